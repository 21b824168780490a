"""Biases of judges: probes, what comes of them, and what they say about the policies that the judges trained."""
