"""Readers of the data sets' official file forms, one a module."""
