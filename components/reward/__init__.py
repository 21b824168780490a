"""From verdicts to the policy's reward and advantage, with abstention kept apart from every number."""
