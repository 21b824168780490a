"""A study's arms in the store: what each left, and where."""
