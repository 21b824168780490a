"""The training engine: verl on Ray, its configuration from the experiment, and the CPU platform it lacks."""
