"""The step study-report: everything that a study found, in one object and on one page."""
