"""The buffer's file under kill -9, several writers, and damage."""

import contextlib
import multiprocessing
import os
import random
import signal
import sqlite3
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from workflow_buffer_parts import SCALE, HashEmbedder, entry, spec

from components.core.errors import StorageError
from components.workflow.buffer.buffer import ExperienceBuffer, Offered
from components.workflow.buffer.database import FILE, Database
from components.workflow.buffer.entry import Entry, Forbidden
from components.workflow.buffer.found import look

FORK = multiprocessing.get_context("fork")
"""Nothing is imported anew, so that a writer is at work, and killed, within milliseconds."""
PADDING = "# " + "x" * 20_000
"""Several pages an entry, so that writing one takes a while."""


def opened(folder: Path, capacity: int = 100_000) -> ExperienceBuffer:
    return ExperienceBuffer(folder, spec(capacity=capacity), SCALE, Forbidden(), HashEmbedder())


def sample(number: int) -> Entry:
    return entry(f"problem {number}", workflow=number, reward=0.5 + number % 97 / 200, padding=PADDING)


def write(folder: Path, numbers: range, told: int) -> None:
    """Offer, and tell the number of each that was kept down a pipe."""
    with opened(folder) as buffer:
        for number in numbers:
            assert buffer.offer(sample(number)) is Offered.KEPT
            os.write(told, struct.pack("<q", number))


class Writer:
    """A process that writes, and what it says it has kept."""

    def __init__(self, folder: Path, numbers: range) -> None:
        self._read, told = os.pipe()
        self._process = FORK.Process(target=write, args=(folder, numbers, told), daemon=True)
        self._process.start()
        os.close(told)

    def kept(self, count: int) -> list[int]:
        """The next ``count`` numbers; fewer where it has ended."""
        found: list[int] = []
        while len(found) < count and len(data := os.read(self._read, 8)) == 8:
            found.append(struct.unpack("<q", data)[0])
        return found

    def kill(self) -> list[int]:
        """End it at once; the numbers that it told and nobody has read."""
        assert self._process.pid is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        return self.end()

    def end(self) -> list[int]:
        """The rest of the numbers, when it has ended."""
        rest = self.kept(1_000_000)
        self._process.join()
        os.close(self._read)
        return rest


def kill_often(folder: Path, kills: int) -> int:
    """Kill a writer so often; how many of them were in the middle of a transaction."""
    draw = random.Random(0)
    told: set[int] = set()
    halfway = 0
    begin = 0
    for _ in range(kills):
        writer = Writer(folder, range(begin, begin + 100_000))
        told.update(writer.kept(draw.randrange(1, 4)))
        time.sleep(draw.uniform(0, 0.03))
        told.update(writer.kill())
        halfway += (folder / f"{FILE}-journal").exists()
        with opened(folder) as buffer:
            found = {each.problem: each for each in buffer.entries()}
        # What was told is there, what is there is whole, and at most the one in flight is there untold.
        assert {f"problem {number}" for number in told} <= found.keys()
        numbers = {int(problem.split()[1]) for problem in found}
        assert len(numbers - told) <= 1
        assert all(each == sample(int(each.problem.split()[1])) for each in found.values())
        told |= numbers
        begin = max(numbers, default=-1) + 1
    return halfway


def test_kill_9_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    kill_often(tmp_path, 6)


@pytest.mark.suites
def test_kill_9_many_times(tmp_path: Path) -> None:
    assert kill_often(tmp_path, 60) > 0, "no kill came in the middle of a transaction"


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    """And a reader meanwhile sees only whole entries."""
    writers = [Writer(tmp_path, range(40)), Writer(tmp_path, range(1000, 1040))]
    with opened(tmp_path) as buffer:
        seen = 0
        while seen < 20:
            found = buffer.entries()
            assert all(each == sample(int(each.problem.split()[1])) for each in found)
            seen = len(found)
            buffer.similar(f"query {seen}", "math")
    assert [number for writer in writers for number in writer.end()] == [*range(40), *range(1000, 1040)]
    with opened(tmp_path) as buffer:
        kept = sorted(int(each.problem.split()[1]) for each in buffer.entries())
    assert kept == [*range(40), *range(1000, 1040)]


def test_one_writer_killed_while_another_goes_on(tmp_path: Path) -> None:
    killed, other = Writer(tmp_path, range(100_000)), Writer(tmp_path, range(200_000, 200_030))
    told = killed.kept(5)
    told += killed.kill()
    assert other.end() == list(range(200_000, 200_030))
    with opened(tmp_path) as buffer:
        found = {int(each.problem.split()[1]) for each in buffer.entries()}
    assert set(told) | set(range(200_000, 200_030)) <= found


def race(folder: Path, ready: object, numbers: list[int]) -> None:
    with opened(folder, capacity=3) as buffer:
        ready.wait()  # type: ignore[attr-defined]
        for number in numbers:
            buffer.offer(sample(number))


def test_two_writers_of_the_same_come_to_the_same_as_one(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    numbers = [*range(20), *range(20)]
    ready = FORK.Barrier(2)
    orders = [random.Random(seed).sample(numbers, len(numbers)) for seed in (1, 2)]
    processes = [FORK.Process(target=race, args=(tmp_path / "two", ready, order)) for order in orders]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    with opened(tmp_path / "one", capacity=3) as buffer:
        for number in range(20):
            buffer.offer(sample(number))
        wanted = buffer.entries()
    with opened(tmp_path / "two", capacity=3) as buffer:
        assert buffer.entries() == wanted


def test_a_look_at_what_a_kill_left_undone_leaves_it(tmp_path: Path) -> None:
    """Looking neither fails, nor repairs what is the next writer's to repair."""
    begin = 0
    told: list[int] = []
    journal = tmp_path / f"{FILE}-journal"
    while not journal.exists():
        writer = Writer(tmp_path, range(begin, begin + 100_000))
        told += writer.kept(1)
        told += writer.kill()
        begin += 100_000
    before = (tmp_path / FILE).read_bytes(), journal.read_bytes()
    found = {int(each.problem.split()[1]) for each in look(str(tmp_path)).entries}
    assert set(told) <= found
    assert before == ((tmp_path / FILE).read_bytes(), journal.read_bytes())


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A buffer's file with 20 entries."""
    with opened(tmp_path) as buffer:
        for number in range(20):
            buffer.offer(sample(number))
    return tmp_path / FILE


def replaced(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert data.count(old) >= 1
    assert len(old) == len(new)
    path.write_bytes(data.replace(old, new))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def scribbled(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * 8192)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda path: path.write_text("notes\n" * 1000), r"cannot be opened: file is not a database"),
        (cut, r"(malformed|damaged|not what was written)"),
        (scribbled, r"(malformed|damaged)"),
        (
            lambda path: replaced(path, b'KIND = "7"', b'KIND = "8"'),
            r"entry 8 \(problem 'id of problem 7'\) is not what",
        ),
    ],
    ids=["text", "cut", "scribbled", "one letter"],
)
def test_damage_is_told_with_file_and_remedy(kept: Path, damage: Callable[[Path], object], told: str) -> None:
    damage(kept)
    with pytest.raises(StorageError, match=told) as raised, opened(kept.parent) as buffer:
        buffer.entries()
    assert raised.value.where == str(kept)
    assert "newest checkpoint" in raised.value.remedy


def test_a_damaged_vector_is_told(kept: Path) -> None:
    vector = HashEmbedder().embed(["problem 3"])[0].tobytes()
    replaced(kept, vector, vector[:-1] + bytes([vector[-1] ^ 1]))
    with opened(kept.parent) as buffer, pytest.raises(StorageError, match="vector of the problem 'problem 3' is not"):
        buffer.similar("query", "math")


def test_another_database_is_not_taken_for_a_buffer(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as db:
        db.execute("CREATE TABLE rollouts (step)")
    with pytest.raises(StorageError, match="a database of something else"):
        opened(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("rollouts",)]


def test_a_file_of_another_version_is_told(kept: Path) -> None:
    with contextlib.closing(sqlite3.connect(kept)) as db:
        (mark,) = db.execute("PRAGMA application_id").fetchone()
        db.execute(f"PRAGMA application_id={mark + 1}")
    with pytest.raises(StorageError, match="another version of Gavel"):
        opened(kept.parent)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="unable to open") as raised:
        opened(tmp_path / "nowhere")
    assert raised.value.where == str(tmp_path / "nowhere" / FILE)


def test_reading_writes_nothing(kept: Path) -> None:
    before = kept.read_bytes()
    with Database(kept, write=False) as database:
        assert len(database.ranked("math")) == 20
        with pytest.raises(StorageError, match="readonly"):
            database.forget_after(0)
    assert kept.read_bytes() == before
    assert [path.name for path in kept.parent.iterdir()] == [FILE]
