"""Files that arrive in parts."""

import hashlib
import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from components.core.manifest import FileEntry
from components.core.store.parts import PartialFile, split

DATA = bytes(range(256)) * 10


def entry(data: bytes = DATA) -> FileEntry:
    return FileEntry(path="f", size=len(data), sha256=hashlib.sha256(data).hexdigest())


@given(st.integers(0, 10_000), st.integers(1, 4000))
def test_parts_cover_every_byte_once(size: int, part_size: int) -> None:
    parts = split(size, part_size)
    covered = [offset for part in parts for offset in range(part.offset, part.offset + part.length)]
    assert covered == list(range(size))
    assert all(0 < part.length <= part_size for part in parts)


def test_parts_in_any_order_over_two_attempts(tmp_path: Path) -> None:
    path = tmp_path / "f"
    first = PartialFile(path, entry(), 100)
    order = list(first.missing)
    random.Random(3).shuffle(order)
    for part in order[:10]:
        first.write(part, DATA[part.offset : part.offset + part.length])
    second = PartialFile(path, entry(), 100)
    assert {part.index for part in second.missing} == {part.index for part in order[10:]}
    for part in second.missing:
        second.write(part, DATA[part.offset : part.offset + part.length])
    assert not path.exists()
    assert second.finish() == entry().sha256
    assert path.read_bytes() == DATA
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_parts_of_another_content_are_not_used(tmp_path: Path) -> None:
    old = PartialFile(tmp_path / "f", entry(), 100)
    old.write(old.missing[0], b"x" * 100)
    other = entry(DATA[::-1])
    assert len(PartialFile(tmp_path / "f", other, 100).missing) == 26


def test_note_cut_short_by_a_kill(tmp_path: Path) -> None:
    partial = PartialFile(tmp_path / "f", entry(), 100)
    for part in partial.missing[:12]:
        partial.write(part, DATA[part.offset : part.offset + part.length])
    note = next(p for p in tmp_path.iterdir() if p.name.endswith(".parts"))
    # "11\n" loses its last two characters: what is left must not count as part 1's line.
    note.write_text(note.read_text()[:-2])
    again = PartialFile(tmp_path / "f", entry(), 100)
    assert [part.index for part in again.missing][:1] == [11]


def test_wrong_content_is_thrown_away(tmp_path: Path) -> None:
    partial = PartialFile(tmp_path / "f", entry(), 100)
    for part in partial.missing:
        partial.write(part, b"\0" * part.length)
    assert partial.finish() == hashlib.sha256(b"\0" * len(DATA)).hexdigest()
    assert list(tmp_path.iterdir()) == []


def test_empty_file(tmp_path: Path) -> None:
    partial = PartialFile(tmp_path / "f", entry(b""), 100)
    assert partial.missing == []
    partial.finish()
    assert (tmp_path / "f").read_bytes() == b""
