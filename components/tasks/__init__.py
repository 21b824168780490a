"""Tasks with a known answer: their golds, how an answer is read from a response, and the official metrics."""
