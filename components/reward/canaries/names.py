"""Names of what a training publishes of its canaries, free of what writes it."""

from typing import Final

TABLE: Final = "canaries.parquet"
"""Rows of the CANARIES contract."""

VERDICTS_TABLE: Final = "canary_verdicts.parquet"
"""Verdicts about them, apart from those about the policy's responses."""
