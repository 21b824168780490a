"""The report: what the policy learnt, what of it is real and what is hacking, with every number's n and interval."""
