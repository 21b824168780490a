"""The step probe-judge: asks the judge real questions before anything depends on it."""
