"""IFEval: prompts with instructions that rules can check (arXiv 2311.07911), scored as the published code does.

``python -m components.score.ifeval --help`` scores a file of responses.
"""
