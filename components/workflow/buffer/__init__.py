"""The experience buffer: workflows that earned much, as examples for similar problems."""
