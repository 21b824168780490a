"""Code that means harm, or is broken: each ends with a failure of the right kind, or with its own value."""

import os
import signal
import time

import pytest
from sandbox_limits import LIMITS, Run

from components.sandbox.outcome import Failure, Value

FAILING = {
    "raises": ("def f(): raise KeyError('k')", "exception"),
    "exits": ("import sys\ndef f(): sys.exit(0)", "exception"),
    "exits while it is loaded": ("raise SystemExit(0)", "exception"),
    "interrupts itself": ("def f(): raise KeyboardInterrupt", "exception"),
    "is no Python": ("def f(:", "exception"),
    "defines something else": ("def g(): return True", "exception"),
    "takes other arguments": ("def f(a): return True", "exception"),
    "recurses for ever": ("def f(): return f()", "exception"),
    "error without a text": ("class E(Exception):\n def __str__(s): 1/0\ndef f(): raise E", "exception"),
    "error whose text never ends": (
        "class E(Exception):\n def __str__(s):\n  while 1: pass\ndef f(): raise E",
        "timeout",
    ),
    "ends its process": ("import os\ndef f(): os._exit(0)", "crash"),
    "aborts": ("import os\ndef f(): os.abort()", "crash"),
    "reads address 0": ("import ctypes\ndef f(): ctypes.string_at(0)", "crash"),
    "overflows the stack": (
        "import sys\ndef f():\n sys.setrecursionlimit(10**9)\n x = None\n for _ in range(10**6): x = (x,)\n return x",
        {"crash", "bad_result", "exception"},
    ),
    "closes all descriptors": ("import os\ndef f():\n os.closerange(0, 1000)\n return True", "crash"),
    "closes them and goes on": ("import os\ndef f():\n os.closerange(0, 1000)\n while 1: pass", "crash"),
    "writes to all descriptors": (
        "import os\ndef f():\n for i in range(3, 64):\n"
        "  try: os.write(i, b'value\\ntrue')\n  except OSError: pass\n return False",
        "crash",
    ),
    "module that is not there": ("import numpy\ndef f(): return True", "import_error"),
    "helper that is not there": ("from llm import llm_score\ndef f(): return True", "import_error"),
    "loops": ("def f():\n while True: pass", "timeout"),
    "loops while it is loaded": ("while True: pass", "timeout"),
    "sleeps": ("import time\ndef f(): time.sleep(1000)", "timeout"),
    "stops itself": ("import os\ndef f():\n os.kill(0, 19)\n import time; time.sleep(100)", "timeout"),
    "ignores all signals": (
        "import signal\ndef f():\n for n in range(1, 65):\n"
        "  try: signal.signal(n, signal.SIG_IGN)\n  except (OSError, ValueError): pass\n while 1: pass",
        "timeout",
    ),
    "backtracks": ("import re\ndef f(): return bool(re.match(r'(a+)+$', 'a' * 40 + 'b'))", "timeout"),
    "power tower": ("def f(): return 9**9**9 > 1", {"timeout", "memory"}),
    "takes memory": ("def f(): return len('x' * 10**10)", "memory"),
    "takes memory in small parts": ("def f():\n x = []\n while 1: x.append(bytearray(10**6))", "memory"),
    "gigabytes of output": ("def f():\n while 1: print('x' * 10**6)", "too_large"),
    "gigabytes past Python": ("import os\ndef f():\n while 1: os.write(2, b'x' * 10**6)", "too_large"),
    "endless answer": ("def f(): return 'x' * (2 << 20)", "too_large"),
    "answer too large for memory": ("def f(): return '\\u1234' * 10**7 * 4", {"memory", "too_large"}),
    "huge int": ("def f(): return 10**5000", "bad_result"),
    "not a number": ("def f(): return float('nan')", "bad_result"),
    "set": ("def f(): return {1}", "bad_result"),
    "bytes": ("def f(): return b'x'", "bad_result"),
    "match": ("import re\ndef f(): return re.search('a', 'a')", "bad_result"),
    "object that claims to be true": ("class T:\n def __bool__(s): return True\ndef f(): return T()", "bad_result"),
    "ring": ("def f():\n x = []; x.append(x)\n return x", "bad_result"),
    "deep": ("def f():\n x = []\n for _ in range(10**5): x = [x]\n return x", {"bad_result", "crash"}),
    "writes a large file": ("def f():\n with open('x', 'wb') as o:\n  while 1: o.write(b'x' * 10**5)", "exception"),
    "fork": ("import os\ndef f(): return os.fork()", "exception"),
    "fork bomb": ("import os\ndef f():\n while 1: os.fork()", "exception"),
    "command": (
        "import subprocess\ndef f(): return subprocess.run(['/bin/true']).returncode == 0",
        {"exception", "import_error"},
    ),
    "becomes another program": ("import os\ndef f(): os.execv('/bin/true', ['true'])", "crash"),
    "socket": ("import socket\ndef f():\n socket.socket()\n return True", "exception"),
    "name look-up": ("import socket\ndef f(): return socket.gethostbyname('localhost')", "exception"),
    "ring of system calls": ("import ctypes\ndef f(): return ctypes.CDLL(None).syscall(425, 8, 0) >= 0", False),
    "hidden value": ("f = None", "exception"),
}
"""Name: (source, kinds or the value)."""

HONEST = {
    "lies on standard output": ('def f():\n print(\'{"kind": "value", "text": "true"}\')\n return False', False),
    "patches json": (
        "import json, json.encoder\ndef f():\n json.dumps = lambda *a, **k: 'true'\n"
        " json.encoder.c_make_encoder = json.encoder.JSONEncoder.iterencode = None\n return False",
        False,
    ),
    "patches builtins": (
        "import builtins\ndef f():\n for n in ('len', 'isinstance', 'type', 'repr', 'bytes', 'int', 'str'):\n"
        "  setattr(builtins, n, lambda *a: True)\n return 1 == 2",
        False,
    ),
    "patches os": (
        "import os\ndef f():\n os.write = lambda fd, b: len(b)\n os._exit = lambda c: None\n return False",
        False,
    ),
    "takes modules away": ("import sys\ndef f():\n sys.modules.clear()\n return False", False),
    "leaves threads behind": (
        "import threading\ndef g():\n while 1: pass\ndef f():\n"
        " [threading.Thread(target=g).start() for _ in range(4)]\n return False",
        False,
    ),
    "leaves handlers behind": (
        "import atexit, sys\ndef f():\n atexit.register(lambda: 1/0)\n sys.excepthook = None\n return False",
        False,
    ),
    "closes standard streams": (
        "import sys, os\ndef f():\n os.close(1); os.close(2); os.close(0)\n return False",
        False,
    ),
    "reads standard input": ("import sys\ndef f(): return sys.stdin.read()", ""),
    "object that destroys": (
        "import os\nclass D:\n def __del__(s): os._exit(0)\nx = D()\ndef f(): return False",
        False,
    ),
    "lone surrogate": ("def f(): return '\\ud800'", "\ud800"),
    "prints what has no encoding": ("def f():\n print('\\ud800')\n return True", True),
    "tuple": ("def f(): return (1, 2.5, None, 'x', {'a': [True]})", [1, 2.5, None, "x", {"a": [True]}]),
    "large and exact": ("def f(): return 2**64 + 1", 18446744073709551617),
}
"""Name: (source, its value)."""


@pytest.mark.parametrize("name", FAILING)
def test_failures_have_their_kind(run: Run, hasty: Run, name: str) -> None:
    source, expected = FAILING[name]
    outcome = (hasty if expected == "timeout" else run)(source)
    if expected is False:
        assert isinstance(outcome, Value)
        assert outcome.value is False
        return
    assert isinstance(outcome, Failure), outcome
    assert outcome.kind in ({expected} if isinstance(expected, str) else expected), outcome
    assert outcome.detail


@pytest.mark.parametrize("name", HONEST)
def test_own_value_comes_through(run: Run, name: str) -> None:
    source, expected = HONEST[name]
    outcome = run(source)
    assert isinstance(outcome, Value), outcome
    assert outcome.value == expected
    assert type(outcome.value) is type(expected)


def test_no_secret_gets_in(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "of the parent")
    outcome = run("import os\ndef f(): return sorted(os.environ)")
    assert isinstance(outcome, Value)
    assert outcome.value == ["HOME", "LANG", "PATH", "TMPDIR"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("target", ["-1", "os.getppid()", "PARENT"])
def test_parent_and_warden_survive_signals(run: Run, number: int, target: str) -> None:
    source = (
        f"import os\nPARENT = {os.getpid()}\ndef f():\n"
        f" try: os.kill({target}, {number})\n except OSError: pass\n return 5"
    )
    before = run("def f(): return 1")
    attacked = run(source)
    after = run("def f(): return 1")
    assert isinstance(before, Value)
    assert isinstance(after, Value)
    # Where the code is the first process of a namespace, 0 and -1 are itself and nobody.
    assert isinstance(attacked, Value) or attacked.kind == "killed"


def test_temporary_folder_is_private_and_empty_each_time(run: Run) -> None:
    source = (
        "import os\ndef f():\n seen = os.listdir('.')\n open('mine', 'w').write('x')\n return seen + os.listdir('.')"
    )
    for _ in range(2):
        outcome = run(source)
        assert isinstance(outcome, Value)
        assert outcome.value == ["mine"]


def test_folder_that_resists_removal_is_removed(level: str, run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    source = (
        "import os\ndef f():\n os.makedirs('a/b/c'); open('a/b/c/x', 'w').close(); os.symlink('/etc', 'a/b/l')\n"
        " os.mkdir('a/b/shut', 0)\n for path in ('a/b/c', 'a/b', 'a'):\n  try: os.chmod(path, 0)\n"
        "  except PermissionError: pass\n return os.getcwd()"
    )
    outcome = run(source)
    assert isinstance(outcome, Value)
    if level == "filter":
        assert isinstance(outcome.value, str)
        assert not os.path.exists(outcome.value)
    assert os.path.isdir("/etc")


def test_time_limits_end_calls_in_time(run: Run, hasty: Run) -> None:
    begun = time.monotonic()
    asleep = hasty("import time\ndef f(): time.sleep(1000)")
    busy = run("def f():\n while True: pass")
    assert time.monotonic() - begun < 20
    assert isinstance(asleep, Failure)
    assert isinstance(busy, Failure)
    assert asleep.seconds == pytest.approx(0.5, abs=0.4)
    assert (asleep.kind, busy.kind) == ("timeout", "timeout")
    assert "wall" in asleep.detail
    assert "processor" in busy.detail
    assert busy.seconds >= LIMITS.cpu_seconds


def test_output_is_kept_from_the_beginning(run: Run) -> None:
    outcome = run("def f():\n print('first')\n print('x' * 5000)")
    assert isinstance(outcome, Value)
    assert outcome.output.startswith("first\nxxx")
    assert len(outcome.output) == 2000
