"""Local long-lived processes: who owns them, how they start, how exactly those end."""
