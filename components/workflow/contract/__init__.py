"""What a policy's text must be to be run as a workflow, found out without running it."""
