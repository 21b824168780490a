"""What a judge's run remembers: the ledger of calls and verdicts, the cache of replies, prices and the budget."""

from components.judge.memory.account import Account
from components.judge.memory.budget import Budget, Price, Spent
from components.judge.memory.cache import Cache, CacheKey, KeyMaker
from components.judge.memory.ledger import Ledger
from components.judge.memory.rows import CallRow, Entry, about

__all__ = [
    "Account",
    "Budget",
    "Cache",
    "CacheKey",
    "CallRow",
    "Entry",
    "KeyMaker",
    "Ledger",
    "Price",
    "Spent",
    "about",
]
