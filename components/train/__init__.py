"""The train-grpo step."""
