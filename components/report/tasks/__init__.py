"""The report of a mixture: metrics of each test set, what training could learn from, judge against gold."""
