"""The merge-checkpoint step: from the trainer's shards to one model folder."""
