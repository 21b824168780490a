"""Several judges on the same sample: their combined verdict, and how far they agree."""
