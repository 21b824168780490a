"""Scores of predictions in a file, by the code that scores in training and evaluation."""
