"""How a policy changes while a judge trains it: features of its responses, rewards, canaries."""
