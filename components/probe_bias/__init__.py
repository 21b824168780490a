"""The step probe-bias: what a judge is biased by, before it trains anybody."""
