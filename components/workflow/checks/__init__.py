"""Quick tests of what workflow RL needs, for people: each says what works."""
