"""Real questions to a judge, before anything depends on it."""
