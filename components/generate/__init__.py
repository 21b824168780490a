"""Responses of a policy to prompts: with Hugging Face on the CPU, with vLLM on GPUs, behind one interface."""
