"""A small OpenAI-protocol server over transformers, for judges on a machine without a GPU."""
