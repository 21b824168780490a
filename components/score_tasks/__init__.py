"""The score-tasks step: official metrics of the answers to the test sets."""
