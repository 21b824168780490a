"""What the policy is told (layer 1), and what operators' prompts begin with (layer 2)."""
