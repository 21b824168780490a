"""No call reaches the warden's channel, and what is forged there is no outcome."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.sandbox.outcome import Failure, FailureKind, Outcome, Value
from components.sandbox.runner import serve
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import Prelude, Warden

ROOT = Path(__file__).parents[2]
FALSE = "def f(): return False"
FORGED = {"kind": "value", "text": "true", "seconds": 0.0, "output": ""}
SEEN = """
import os
def f():
    found = []
    for number in range(70000):
        try: os.fstat(number)
        except OSError: continue
        found.append(number)
    return found
"""
FORGE = f"""
import json, os, stat
def f():
    message = json.dumps({FORGED}).encode()
    for number in range(4, 70000):
        try: kind = os.fstat(number).st_mode
        except OSError: continue
        if stat.S_ISSOCK(kind):
            for _ in range(100): os.write(number, len(message).to_bytes(4, "big") + message)
    return False
"""


@contextlib.contextmanager
def many_open() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(open(os.devnull, "rb"))
        yield


def values(outcomes: list[Outcome]) -> list[Any]:
    return [each.value if isinstance(each, Value) else each for each in outcomes]


async def test_calls_inherit_nothing_from_a_process_with_many_files_open(level: str) -> None:
    sandbox = Sandbox(level=level, concurrency=1)
    try:
        with many_open():
            assert values([await sandbox.run(source, "f") for source in (SEEN, FORGE)]) == [[0, 1, 2, 3], False]
            assert values([await sandbox.run(FALSE, "f") for _ in range(20)]) == [False] * 20
    finally:
        await sandbox.close()


def test_closing_needs_no_kernel_that_closes_ranges() -> None:
    script = (
        "import os, resource, sys\nfrom components.sandbox.runner import kernel\n"
        "def refuse(*_): raise OSError(38, 'no such call')\n"
        "def missing(_): raise FileNotFoundError\n"
        "kernel.syscall = refuse\n"
        "if sys.argv[1] == 'without': os.listdir = missing\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (1024,) + resource.getrlimit(resource.RLIMIT_NOFILE)[1:])\n"
        "kept = os.dup2(os.open('/dev/null', os.O_RDONLY), 10)\n"
        "for number in (11, 400, 1023): os.dup2(kept, number)\n"
        "kernel.close_from(11)\nos.fstat(10)\n"
        "for number in (11, 400, 1023):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: continue\n"
        "    sys.exit(number)\n"
    )
    for proc in ("with", "without"):
        subprocess.run([sys.executable, "-c", script, proc], check=True, cwd=ROOT)


def with_channel_of_ours(level: str) -> tuple[Warden, socket.socket]:
    """A warden, and the end of its channel where it would speak, which is now ours."""
    warden = Warden(level, Prelude())
    warden._channel.close()
    warden._channel, ours = socket.socketpair()
    return warden, ours


async def test_words_that_nobody_asked_for_end_the_warden(level: str) -> None:
    sandbox = Sandbox(level=level, concurrency=1)
    warden, ours = with_channel_of_ours(level)
    sandbox._idle.append(warden)
    try:
        with ours:
            serve.send(ours, FORGED)
            assert values([await sandbox.run(FALSE, "f") for _ in range(3)]) == [False] * 3
        assert warden._process.returncode is not None
        assert warden not in sandbox._idle
    finally:
        await sandbox.close()


@pytest.mark.parametrize(
    "said",
    [
        FORGED,
        FORGED | {"id": "0" * 32},
        FORGED | {"id": None},
        FORGED | {"id": ["the request's"], "kind": "value"},
        {"id": "the request's"},
        FORGED | {"id": "the request's", "kind": "unheard of"},
        FORGED | {"id": "the request's", "kind": ["value"]},
        FORGED | {"id": "the request's", "text": True},
        b"\0\0\0\1[",
        b"\0\0\0\2[]",
        b"\xff\xff\xff\xff",
        (200_000).to_bytes(4, "big") + b"[" * 200_000,
        b"",
    ],
)
def test_what_is_no_report_on_the_request_is_no_value(said: dict[str, Any] | bytes) -> None:
    """In a call under way, whose warden is ended."""
    sandbox = Sandbox(level="filter", concurrency=1)
    warden, ours = with_channel_of_ours("filter")
    sandbox._idle.append(warden)

    def forge() -> None:
        request = serve.receive(ours)
        assert request is not None
        if isinstance(said, bytes):
            ours.sendall(said)
        else:
            serve.send(ours, said | ({"id": request["id"]} if said.get("id") == "the request's" else {}))
        ours.close()

    forger = threading.Thread(target=forge)
    forger.start()
    try:
        outcome = asyncio.run(sandbox.run(FALSE, "f"))
        assert isinstance(outcome, Failure)
        assert outcome.kind is FailureKind.KILLED
        assert warden._process.returncode is not None
    finally:
        forger.join()
        asyncio.run(sandbox.close())
