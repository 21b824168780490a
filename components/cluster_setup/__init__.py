"""Setting up a cluster for Gavel: applying the manifests, and taking them away."""
