"""Training: GRPO by verl on Ray, on GPUs as on a CPU-only machine."""
