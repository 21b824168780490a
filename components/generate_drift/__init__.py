"""The step generate-drift: how the policy answers while it is being trained."""
