"""From a judge's reply to verdicts: tolerant of wrapping, strict about meaning, and never a guess."""
