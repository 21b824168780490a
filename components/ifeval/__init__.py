"""The ifeval step, and ``python -m components.ifeval``, which generates and scores without a pipeline."""
