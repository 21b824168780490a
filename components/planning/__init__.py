"""What an experiment will ask of judges, nodes, memory, time and money, told before any of it is spent."""
