"""Runs workflows: the program in the sandbox, what it asks for outside of it."""
