"""Training as a RayJob: the object, the pods it asks for, and the step that submits and follows it."""
