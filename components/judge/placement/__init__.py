"""Who brings a judge up and ends it: this machine, a cluster, or somebody else."""
