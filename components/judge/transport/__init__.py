"""Calls to a judge over HTTP: one limit for all, several endpoints and keys, and a typed failure at the end."""

from components.judge.transport.client import Transport
from components.judge.transport.limits import Limits, Stats
from components.judge.transport.reply import Reply

__all__ = ["Limits", "Reply", "Stats", "Transport"]
