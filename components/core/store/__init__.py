"""Object storage: one interface over folders and S3."""

from components.core.store.base import Entry, Store

__all__ = ["Entry", "Store"]
