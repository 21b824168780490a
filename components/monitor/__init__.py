"""Looking on at a training, live or afterwards: reads what the training writes, and holds nothing that it needs."""
