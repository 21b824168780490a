"""Readers of data sets in their own formats."""
