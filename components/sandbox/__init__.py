"""Runs Python source that nobody vouches for in a process of its own; knows nothing of rules, data or judges."""
