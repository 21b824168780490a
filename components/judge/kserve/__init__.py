"""A judge as a KServe InferenceService: what it is made of, and what becomes of it."""
