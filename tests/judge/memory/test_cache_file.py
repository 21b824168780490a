"""The cache of replies: shared by processes, bounded, and worth nothing rather than wrong when its file is broken."""

import hashlib
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from chat_servers import completion
from hypothesis import given
from hypothesis import strategies as st
from judge_servers import spec

from components.judge.asker import Asker
from components.judge.calls import Answer, Call, Message
from components.judge.failures import Failure
from components.judge.memory import Cache, CacheKey, cache
from components.judge.profiles import profile_for
from components.judge.transport import Reply
from components.judge.verdict import UnknownReason

ROOT = Path(__file__).parents[3]


def key(text: str = "a", **changes: str) -> CacheKey:
    return CacheKey.of(**{"judge": "j", "protocol": "p/1", **changes}, body=text.encode())  # type: ignore[arg-type]


def kept(path: Path, count: int, size: int, *, limit: int) -> list[int]:
    """Which of ``count`` replies are still there after all were put."""
    with Cache(path, limit=limit) as opened:
        for number in range(count):
            opened.put(key(str(number)), bytes([number % 256]) * size)
            if number % 8 == 0:
                opened._try_write()
    with Cache(path, limit=limit) as opened:
        return [n for n in range(count) if opened.get(key(str(n))) == bytes([n % 256]) * size]


def test_replies_are_there_at_once_and_later(tmp_path: Path) -> None:
    with Cache(tmp_path / "deep" / "c") as opened:
        assert opened.get(key()) is None
        opened.put(key(), b"reply")
        assert opened.get(key()) == b"reply"
        opened.put(key(), b"newer")
    with Cache(tmp_path / "deep" / "c") as opened:
        assert opened.get(key()) == b"newer"
        assert opened.get(key("b")) is None
        assert (opened.hits, opened.misses) == (1, 1)


def test_the_oldest_leave_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "c"
    there = kept(path, 120, 20_000, limit=1_000_000)
    assert there[-1] == 119
    assert there == list(range(there[0], 120))
    assert 30 <= len(there) <= 50
    # Pages are used again: the file has no more than the limit and one batch.
    assert path.stat().st_size < 1_000_000 + 9 * 25_000


def test_nothing_leaves_below_the_limit(tmp_path: Path) -> None:
    assert kept(tmp_path / "c", 120, 5_000, limit=1_000_000) == list(range(120))


WRITER = """
import sys
from pathlib import Path
from components.judge.memory import Cache, CacheKey
with Cache(Path(sys.argv[1])) as cache:
    for number in range(150):
        mine = CacheKey.of(judge="j", protocol="p", body=f"{sys.argv[2]}-{number}".encode())
        both = CacheKey.of(judge="j", protocol="p", body=f"shared-{number}".encode())
        cache.put(mine, f"{sys.argv[2]}-{number}".encode() * 50)
        cache.put(both, f"shared-{number}".encode() * 50)
        assert cache.get(both) == f"shared-{number}".encode() * 50
    assert cache.working
"""


def test_several_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "c"
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], env={**os.environ, "PYTHONPATH": str(ROOT)})
        for name in "abc"
    ]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    with Cache(path) as opened:
        for name in ("a", "b", "c", "shared"):
            for number in range(150):
                text = f"{name}-{number}".encode()
                assert opened.get(CacheKey.of(judge="j", protocol="p", body=text)) == text * 50


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_WRITE_WAIT", 0.2)
    monkeypatch.setattr(cache, "_READ_WAIT", 0.2)


def broken_files(folder: Path) -> Iterator[Path]:
    for name, content in (("text", b"no database at all, " * 400), ("half", b"SQLite format 3\0" + b"\x5a" * 5000)):
        (folder / name).write_bytes(content)
        yield folder / name
    db = sqlite3.connect(folder / "other")
    db.execute("CREATE TABLE replies (x)")
    db.commit()
    db.close()
    yield folder / "other"
    (folder / "folder").mkdir()
    yield folder / "folder"
    yield folder / "text" / "below-a-file"


def test_a_file_that_is_no_cache_means_no_cache_and_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, impatient: None
) -> None:
    for path in broken_files(tmp_path):
        before = path.read_bytes() if path.is_file() else None
        caplog.clear()
        with caplog.at_level(logging.WARNING), Cache(path) as opened:
            assert not opened.working
            opened.put(key(), b"reply")
            assert opened.get(key()) is None
            assert opened.get(key()) is None
        assert len(caplog.records) == 1
        assert str(path) in caplog.text
        assert (path.read_bytes() if path.is_file() else None) == before


def test_a_locked_file_means_no_cache_and_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, impatient: None
) -> None:
    path = tmp_path / "c"
    with Cache(path) as opened:
        opened.put(key(), b"reply")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA locking_mode=EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    with caplog.at_level(logging.WARNING), Cache(path) as opened:
        assert not opened.working
        assert opened.get(key()) is None
        opened.put(key("b"), b"reply")
    assert len(caplog.records) == 1
    holder.close()
    with Cache(path) as opened:
        assert opened.get(key()) == b"reply"


def test_a_lock_that_comes_later_stops_writing_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, impatient: None
) -> None:
    path = tmp_path / "c"
    with caplog.at_level(logging.WARNING), Cache(path) as opened:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        for number in range(20):
            opened.put(key(str(number)), b"reply")
        opened._try_write()
        assert not opened.working
        assert opened.get(key("0")) is None
        holder.close()
    assert len(caplog.records) == 1


def test_damaged_replies_are_no_replies(tmp_path: Path) -> None:
    path = tmp_path / "c"
    with Cache(path) as opened:
        for text in "abc":
            opened.put(key(text), b"a whole good reply")
    db = sqlite3.connect(path)
    db.execute("UPDATE replies SET body = ? WHERE key = ?", (b"a hole good reply", key("a").digest))
    db.execute("UPDATE replies SET body = 'text' WHERE key = ?", (key("b").digest,))
    db.commit()
    db.close()
    with Cache(path) as opened:
        assert opened.get(key("a")) is None
        assert opened.get(key("b")) is None
        assert opened.get(key("c")) == b"a whole good reply"


PARTS = st.tuples(*[st.text("ab\n/", max_size=3)] * 4)


@given(PARTS, PARTS)
def test_keys_differ_when_any_part_differs(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Also where the parts say the same one after the other: no judge, protocol or sampling is served another's."""
    keys = [
        CacheKey.of(judge=judge, protocol=protocol, sampling=sampling, body=body.encode())
        for judge, protocol, sampling, body in (one, other)
    ]
    assert (keys[0] == keys[1]) == (one == other)


class Echo:
    """Carries calls to a judge that answers with the hash of what it was sent."""

    def __init__(self) -> None:
        self.calls = 0

    async def post(self, path: str, body: bytes, **_: Any) -> Reply | Failure:
        self.calls += 1
        data = completion(hashlib.sha256(body).hexdigest())
        return Reply(data, orjson.dumps(data), 1)


TEXTS = st.text("ab \n", max_size=4)
CALLS = st.builds(
    lambda texts, length, heat: Call(
        tuple(Message(role, text) for role, text in zip(("system", "user"), texts, strict=True)), length, heat
    ),
    st.tuples(TEXTS, TEXTS),
    st.sampled_from([8, 9]),
    st.sampled_from([0.0, 0.7]),
)


@given(st.lists(CALLS, min_size=2, max_size=12))
async def test_two_prompts_never_share_an_answer(tmp_path_factory: pytest.TempPathFactory, calls: list[Call]) -> None:
    judge = spec()
    profile = profile_for(judge, "http://127.0.0.1:9")
    path = tmp_path_factory.mktemp("cache") / "c"
    for expected in (len(set(calls)), 0):
        carrier = Echo()
        with Cache(path) as opened:
            asker = Asker(judge, profile, carrier, cache=opened)
            for each in calls:
                answer = await asker(each)
                assert isinstance(answer, Answer)
                assert answer.text == hashlib.sha256(orjson.dumps(profile.body(each, judge))).hexdigest()
        assert carrier.calls == expected


@pytest.mark.parametrize(
    "reply",
    [
        Failure(UnknownReason.TIMEOUT, "late"),
        Failure(UnknownReason.REFUSED, "no", b"{}"),
        completion("", "stop"),
        completion("cut", "length"),
        completion("met", None),
        completion("no", "content_filter"),
        {"choices": []},
    ],
)
async def test_nothing_but_whole_good_replies_is_put(tmp_path: Path, reply: Any) -> None:
    class Says:
        async def post(self, *_: Any, **__: Any) -> Reply | Failure:
            return reply if isinstance(reply, Failure) else Reply(reply, orjson.dumps(reply), 1)

    judge = spec()
    with Cache(tmp_path / "c") as opened:
        asker = Asker(judge, profile_for(judge, "http://127.0.0.1:9"), Says(), cache=opened)
        await asker(Call((Message("user", "?"),), 8))
    ((rows,),) = sqlite3.connect(tmp_path / "c").execute("SELECT COUNT(*) FROM replies").fetchall()
    assert rows == 0
