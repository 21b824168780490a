"""The graphs: which step runs after which, and nothing else."""
