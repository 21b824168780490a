"""The report of a study: one HTML file from ``study.json``."""
