"""The generate-ifeval step: responses to the prompts of IFEval."""
