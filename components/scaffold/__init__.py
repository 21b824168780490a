"""Rubric scaffolding (RuscaRL, arXiv 2508.16949): training prompts that show less and less of their rubric."""
