"""What all operators are made of."""
