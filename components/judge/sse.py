"""Server-sent events, read as their bytes arrive (WHATWG HTML, section 9.2.6)."""

from typing import Final, NamedTuple

_BOM: Final = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its type, ``message`` unless the server named one, and its data."""

    kind: str
    data: bytes


class EventParser:
    """Takes bytes cut anywhere, also inside a character or between CR and LF, and gives whole events."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._held = False
        self._kind = ""
        self._data: list[bytes] = []
        self._begun = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Events that ``chunk`` completes."""
        self._parts.append(chunk)
        if self._begun and not self._held and b"\n" not in chunk and b"\r" not in chunk:
            # Joined once the line ends: a long line that comes in small pieces would else be copied for each of them.
            return []
        rest = b"".join(self._parts)
        if not self._begun:
            if len(rest) < len(_BOM) and _BOM.startswith(rest):
                return []
            self._begun = True
            rest = rest.removeprefix(_BOM)
        # A CR at the very end may be the first half of a CRLF.
        held = b"\r" if rest.endswith(b"\r") else b""
        text = rest[: len(rest) - len(held)]
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, last = text.split(b"\n")
        self._parts, self._held = [last + held], bool(held)
        return [event for line in lines if (event := self._line(line)) is not None]

    def close(self) -> list[Event]:
        """What is left when the stream ends. The standard drops it; servers forget the last empty line."""
        if not any(self._parts) and not self._data:
            return []
        return self.feed(b"\n\n")

    def _line(self, line: bytes) -> Event | None:
        if line:
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                self._data.append(value)
            elif field == b"event":
                self._kind = value.decode("utf-8", "replace")
            return None
        data, kind = self._data, self._kind
        self._data, self._kind = [], ""
        return Event(kind or "message", b"\n".join(data)) if data else None
