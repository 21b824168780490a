"""The first step of a pipeline: what is asked for becomes an experiment with everything looked up."""
