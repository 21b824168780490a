"""Every policy of a study scored by a judge of it."""
