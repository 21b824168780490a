"""The judge engine: asks a model whether criteria are met, and never turns a failure into a verdict."""
