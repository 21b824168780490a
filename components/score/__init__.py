"""Checks by rule that no judge sees, and the step that scores with them and with the judge."""
