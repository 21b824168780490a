"""Ways to ask a judge; each is one module with its prompts as text files in ``templates/``."""
