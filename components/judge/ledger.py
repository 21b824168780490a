"""The ledger under its earlier name."""

from components.judge.memory.ledger import Ledger
from components.judge.memory.rows import Entry

__all__ = ["Entry", "Ledger"]
