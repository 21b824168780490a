"""Workflows that a policy writes over operators: what they may call, how they are run, and what they earn."""
