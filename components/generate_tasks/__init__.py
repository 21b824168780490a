"""The generate-tasks step: answers to the test sets of a mixture."""
