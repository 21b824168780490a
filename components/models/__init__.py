"""Models on this machine: a model source becomes a Hugging Face folder, and text is decoded from one."""
