"""Models that live on this machine: where a model source becomes a Hugging Face folder, and how text is decoded from one."""
