"""Canaries: responses without content, judged in each step of a training beside the policy's, and never trained on."""
