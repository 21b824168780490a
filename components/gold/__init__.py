"""Gold: what a response truly does, by rules that the judge never sees."""
