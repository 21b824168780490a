"""What every step needs: the experiment, the data contracts, the store, the step runtime."""
