"""What the arms of a study say together: whether judges' biases come out again in the policies that they trained."""
