"""Keeps API keys out of everything that a server says, before it is read, cut or kept."""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import orjson

_SECRET: Final = 8
"""Characters from which a key is one: shorter ones ("EMPTY", "none") stand for no key, and are words of replies."""
_MARK: Final = "[key]"


class Redaction:
    """Leaves out the keys of a judge, whichever of them a call used.

    Args:
        keys: bearer tokens; None for none.
    """

    def __init__(self, keys: Sequence[str | None]) -> None:
        # The longest first: one key may begin another.
        self._keys = sorted({key for key in keys if key and len(key) >= _SECRET}, key=len, reverse=True)
        self._raw = [key.encode("utf-8", "surrogatepass") for key in self._keys]
        self._escaped = [re.compile(b"".join(_escapable(byte) for byte in key)) for key in self._raw]
        self._parts = {key[at : at + _SECRET] for key in self._keys for at in range(len(key) - _SECRET + 1)}

    def raw(self, data: bytes) -> bytes:
        """Bytes without keys."""
        for key in self._raw:
            if key in data:
                data = data.replace(key, _MARK.encode())
        # Only these escapes of JSON can hide a character of a key.
        if b"\\u" in data or b"\\/" in data:
            for escaped in self._escaped:
                data = escaped.sub(_MARK.encode(), data)
        return data

    def text(self, text: str) -> str:
        """Text without keys and without parts of them of eight characters or more: a message may be cut already."""
        if not any(part in text for part in self._parts):
            return text
        found, at, marked = [], 0, False
        while at < len(text):
            end = at
            while text[end : end + _SECRET] in self._parts:
                end += 1
            if end > at:
                found.append("" if marked else _MARK)
                marked = True
                at = end + _SECRET - 1
                continue
            found.append(text[at])
            marked = False
            at += 1
        return "".join(found)

    def decoded(self, data: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """An object and its bytes, where a stream's events may have hidden a key from :meth:`raw`.

        Raises:
            TypeError: it is nested too deeply.
        """
        if not self._raw:
            return data, body
        plain = orjson.dumps(data)
        clean = self.raw(plain)
        return (data, body) if clean is plain else (orjson.loads(clean), clean)

    async def pieces(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pieces without keys, also without those that lie across two; what may begin one waits for the next."""
        held = b""
        async for piece in pieces:
            held = self.raw(held + piece)
            keep = self._begun(held)
            if ready := held[: len(held) - keep]:
                yield ready
            held = held[len(held) - keep :]
        if held:
            yield held

    def _begun(self, data: bytes) -> int:
        """Length of the longest end of ``data`` with which a key begins."""
        for length in range(min(len(data), max(map(len, self._raw), default=1) - 1), 0, -1):
            end = data[-length:]
            if any(len(key) > length and key.startswith(end) for key in self._raw):
                return length
        return 0


def _escapable(byte: int) -> bytes:
    """Matches a byte of a key as it is or as JSON may write it."""
    plain = re.escape(bytes([byte]))
    slash = rb"|\\/" if byte == ord("/") else b""
    return b"(?:" + plain + slash + rb"|\\u(?i:%04x))" % byte
