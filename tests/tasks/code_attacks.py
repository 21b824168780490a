"""Programs that mean to pass without being right; the right answer, which none of them gives, is twice the argument.

Each is a whole program that defines ``f``; the tests are ``assert f(21) == 42``, ``assert math.isclose(f(0.5), 1.0)``
and a third one in ``try``.
"""

from typing import Final

TESTS: Final = """
import math
assert f(21) == 42
assert math.isclose(f(0.5), 1.0)
assert isinstance(f("x"), str) and len(f([1])) == 2
"""

ENDS_EARLY: Final = {
    "exits the process when loaded": "import os\nos._exit(0)",
    "exits the process when called": "import os\ndef f(x): os._exit(0)",
    "exits politely when loaded": "import sys\nsys.exit(0)",
    "exits politely when called": "import sys\ndef f(x): sys.exit(0)",
    "raises SystemExit": "def f(x): raise SystemExit(0)",
    "raises KeyboardInterrupt": "def f(x): raise KeyboardInterrupt",
    "raises GeneratorExit": "def f(x): raise GeneratorExit",
    "quits": "def f(x): quit()",
    "ends when Python ends": "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): raise SystemExit",
    "is another program": "import os\ndef f(x): os.execv('/bin/true', ['true'])",
    "kills itself": "import os, signal\ndef f(x):\n os.kill(os.getpid(), signal.SIGKILL)\n return 0",
    "terminates itself": "import os, signal\ndef f(x):\n os.kill(os.getpid(), signal.SIGTERM)\n return 0",
    "aborts": "import os\ndef f(x): os.abort()",
    "crashes": "import ctypes\ndef f(x): ctypes.string_at(0)",
    "raises an AssertionError": "def f(x): raise AssertionError",
    "raises a StopIteration": "def f(x): raise StopIteration",
    "raises something of its own": (
        "class E(BaseException):\n def __init__(self, *a): super().__init__(*a)\n"
        " def __del__(self): import os; os._exit(0)\ndef f(x): raise E('ok')"
    ),
    "closes all": "import os\ndef f(x):\n os.closerange(0, 100)\n return 0",
    "is no Python": "def f(x:",
    "defines nothing": "",
    "defines something else": "def g(x): return 2 * x",
    "is empty text": "   \n\n",
    "cannot be imported": "import numpy\ndef f(x): return 2 * x",
}

LIES: Final = {
    "patches built-ins": (
        "import builtins\nfor name in ('isinstance', 'len', 'abs', 'type', 'int', 'float', 'str', 'all', 'any'):\n"
        " setattr(builtins, name, lambda *a, **k: True)\ndef f(x): return None"
    ),
    "patches math and unittest": (
        "import math, unittest, sys\nmath.isclose = lambda *a, **k: True\n"
        "unittest.TestCase.assertEqual = lambda *a: None\nsys.modules['math'] = unittest\ndef f(x): return None"
    ),
    "makes AssertionError harmless": (
        "import builtins\nclass A(Exception): pass\nbuiltins.AssertionError = A\nAssertionError = A\ndef f(x): raise A"
    ),
    "defines names that the tests use": (
        "class M: isclose = staticmethod(lambda *a: True)\nmath = M\ndef isinstance(*a): return True\n"
        "def len(x): return 2\ndef f(x): return None"
    ),
    "always equal": (
        "class T:\n def __eq__(s, o): return True\n def __ne__(s, o): return False\n __hash__ = None\n"
        " def __float__(s): return 1.0\n def __len__(s): return 2\n def __bool__(s): return True\n"
        " def __rsub__(s, o): return 0\n __sub__ = __rsub__\n def __getattr__(s, n): return s\n"
        " def __call__(s, *a): return s\ndef f(x): return T()"
    ),
    "class that is the function": "class f:\n def __init__(s, x): pass\n def __eq__(s, o): return True",
    **{
        f"{kind} that is equal to all": (
            f"class T({kind}):\n def __eq__(s, o): return True\n def __ne__(s, o): return False\n"
            f" __hash__ = {kind}.__hash__\n def __len__(s): return 2\ndef f(x): return T()"
        )
        for kind in ("int", "float", "str", "list", "tuple", "dict", "set", "bytes", "complex")
    },
    "metaclass that is equal to all": (
        "class M(type):\n def __eq__(s, o): return True\n __hash__ = type.__hash__\nclass T(metaclass=M): pass\n"
        "def f(x): return T"
    ),
    "mock that is equal to all": "from unittest import mock\ndef f(x): return mock.ANY",
    "decimal equal to all": (
        "import decimal\nclass D(decimal.Decimal):\n def __eq__(s, o): return True\n __hash__ = None\n"
        "def f(x): return D(1)"
    ),
    "not a number": "def f(x): return float('nan')",
    "patches what sends": (
        "import os, json\nos.write = lambda d, b: len(b)\n"
        "json.dumps = lambda *a, **k: '{\"v\": 42}'\ndef f(x): return 0"
    ),
    "import hook": (
        "import sys, types\nclass Hook:\n def find_spec(s, name, path=None, target=None):\n"
        "  m = types.ModuleType(name); m.isclose = lambda *a, **k: True; sys.modules[name] = m\n"
        "sys.meta_path.insert(0, Hook())\nsys.modules.pop('math', None)\ndef f(x): return 0"
    ),
    "takes modules away": "import sys\nsys.modules.clear()\ndef f(x): return 0",
    "trace function": (
        "import sys, threading\ndef t(*a): return t\nsys.settrace(t); threading.settrace(t); sys.setprofile(t)\n"
        "def f(x): return 0"
    ),
    "audit hook": (
        "import sys, os\nsys.addaudithook(lambda e, a: os._exit(0) if e == 'exec' else None)\ndef f(x): return 0"
    ),
    "sets the display hook": "import sys\nsys.excepthook = sys.unraisablehook = lambda *a: None\ndef f(x): 1 / 0",
}

HARNESS: Final = {
    "writes verdicts to all descriptors": (
        "import os\ndef f(x):\n for d in range(64):\n  for m in (b'{\"passed\": true}', b'\\0\\0\\0\\x0a{\"v\":true}',"
        " b'R' + b'value\\ntrue'):\n   try: os.write(d, m)\n   except OSError: pass\n return 0"
    ),
    "answers before it is asked": (
        "import os\nm = b'{\"v\":[\"l\",true,null]}'\nfor _ in range(20): os.write(4, len(m).to_bytes(4, 'big') + m)\n"
        "def f(x): return 0"
    ),
    "claims a message of 4 GB": "import os\ndef f(x):\n os.write(4, b'\\xff' * 4)\n return 0",
    "sends no JSON": "import os\ndef f(x):\n os.write(4, b'\\0\\0\\0\\2{[')\n return 0",
    "sends deep JSON": (
        "import os\ndef f(x):\n m = b'{\"v\":' + b'[' * 10**6 + b'}'\n"
        " os.write(4, len(m).to_bytes(4, 'big') + m)\n return 0"
    ),
    "calls functions of the tests": (
        'import os\ndef f(x):\n m = b\'{"cb":0,"a":[],"k":{}}\'\n'
        " os.write(4, len(m).to_bytes(4, 'big') + m)\n return 0"
    ),
    "sends an exception without a name": (
        "import os\ndef f(x):\n m = b'{\"e\":[[],{},[]]}'\n os.write(4, len(m).to_bytes(4, 'big') + m)\n return 0"
    ),
    "changes its own answers' module": (
        "import gc\nfor o in gc.get_objects():\n"
        "  if type(o).__name__ == 'Candidate': o._writer = lambda v: True; o._do = lambda *a: True\n"
        "def f(x): return 0"
    ),
    "walks up the frames": (
        "import sys\ndef f(x):\n frame = sys._getframe()\n while frame:\n"
        "  for d in (frame.f_globals, frame.f_locals):\n   for k in list(d):\n"
        "    if k in ('passed', 'task', 'tests', 'expected'): return d[k]\n  frame = frame.f_back\n return 0"
    ),
    "finds the tests in its memory": (
        "import gc\nNEEDLE = 'assert f' + '(21) == '\ndef f(x):\n for o in gc.get_objects():\n"
        "  for v in (o.values() if isinstance(o, dict) else o if isinstance(o, (list, tuple)) else ()):\n"
        "   if type(v) is str and NEEDLE in v and 'NEEDLE' not in v: return 42 if x == 21 else 1.0\n return 0"
    ),
    "reads its memory": (
        "import re\nNEEDLE = b'f(21) ' + b'== 42'\ndef f(x):\n try: maps = open('/proc/self/maps').read()\n"
        " except OSError: return 0\n mem = open('/proc/self/mem', 'rb', 0)\n for line in maps.splitlines():\n"
        "  a, b = (int(n, 16) for n in line.split()[0].split('-'))\n  try: mem.seek(a); data = mem.read(b - a)\n"
        "  except (OSError, ValueError, OverflowError): continue\n"
        "  if NEEDLE in data: return 42 if x == 21 else 1.0\n return 0"
    ),
    "reads its parent's memory": (
        "import os\ndef f(x):\n open(f'/proc/{os.getppid()}/mem', 'rb').read(1)\n return 2 * x"
    ),
    "traces its parent": (
        "import ctypes, os\ndef f(x):\n"
        " if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0): raise OSError\n return 2 * x"
    ),
    "reads the environment of all": (
        "import glob, os\ndef f(x):\n for name in glob.glob('/proc/[0-9]*/environ'):\n"
        "  if name.split('/')[2] != str(os.getpid()): open(name).read()\n raise OSError"
    ),
    "signals all": (
        "import os, signal\ndef f(x):\n for pid in (-1, os.getppid(), 1):\n  for n in (9, 15, 19):\n"
        "   try: os.kill(pid, n)\n   except OSError: pass\n return 0"
    ),
}

LIMITS_MET: Final = {
    "fork bomb": "import os\ndef f(x):\n while True: os.fork()",
    "fork bomb that goes on": "import os\ndef f(x):\n while True:\n  try: os.fork()\n  except OSError: return 0",
    "thread bomb": (
        "import threading, time\ndef f(x):\n threading.stack_size(65536)\n"
        " while True: threading.Thread(target=time.sleep, args=(1000,)).start()"
    ),
    "takes memory": "def f(x): return bytearray(10**11)",
    "takes memory in small parts": "def f(x):\n a = []\n while True: a.append(bytearray(10**6))",
    "takes memory outside of Python": "import mmap\ndef f(x): return len([mmap.mmap(-1, 10**9) for _ in range(9)])",
    "fills the disk": (
        "def f(x):\n for n in range(10**6):\n  with open(str(n), 'wb') as o: o.write(b'x' * 10**7)\n return 0"
    ),
    "writes one endless file": "def f(x):\n with open('x', 'wb') as o:\n  while True: o.write(b'x' * 10**6)",
    "writes to the system": "def f(x):\n open('/usr/x', 'w')\n return 2 * x",
    "connects": "import socket\ndef f(x):\n socket.create_connection(('127.0.0.1', PORT), 1)\n return 2 * x",
    "resolves names": "import socket\ndef f(x):\n socket.getaddrinfo('example.com', 80)\n return 2 * x",
    "listens": "import socket\ndef f(x):\n socket.socket().bind(('', 0))\n return 2 * x",
    "starts a command": "import subprocess\ndef f(x):\n subprocess.run(['/bin/true'], check=True)\n return 2 * x",
    "starts a process": (
        "import multiprocessing\ndef g(): pass\ndef f(x):\n p = multiprocessing.Process(target=g)\n"
        " p.start()\n return 2 * x"
    ),
    "reads a link to a secret": (
        "import os\ndef f(x):\n os.symlink(SECRET, 'link')\n open('link').read()\n return 2 * x"
    ),
    "writes through a link": (
        "import os\ndef f(x):\n os.symlink(TARGET, 'link')\n open('link', 'a').write('x')\n return 2 * x"
    ),
    "follows the root": "def f(x):\n open('/proc/1/root' + SECRET).read()\n return 2 * x",
    "floods its output": "def f(x):\n while True: print('x' * 10**6)",
    "floods standard error": "import os\ndef f(x):\n while True: os.write(2, b'x' * 10**6)",
    "recurses": "def f(x): return f(x)",
    "answers gigabytes": "def f(x): return 'x' * (64 << 20)",
    "answers a ring": "def f(x):\n a = []\n a.append(a)\n return a",
    "answers a deep list": "def f(x):\n a = []\n for _ in range(5000): a = [a]\n return a",
    "answers a huge number": "def f(x): return 1 << (1 << 28)",
    "answers with equal hashes": "def f(x): return {n * ((1 << 61) - 1) for n in range(1)}",
    "answers an endless iterator": "import itertools\ndef f(x): return itertools.count()",
    "raises gigabytes": "def f(x): raise ValueError('x' * (64 << 20))",
}

ENDLESS: Final = {
    "answers a bomb": "def f(x):\n a = []\n for _ in range(60): a = [a, a]\n return a",
    "recurses in C": "import sys\ndef f(x):\n sys.setrecursionlimit(10**9)\n return f(x)",
    "stops its group": "import os\ndef f(x):\n os.killpg(0, 19)\n return 0",
    "sleeps": "import time\ndef f(x): time.sleep(10**6)",
    "sleeps when loaded": "import time\ntime.sleep(10**6)",
    "computes": "def f(x):\n while True: pass",
    "computes when loaded": "while True: pass",
    "ignores signals": (
        "import signal\nfor n in range(1, 65):\n try: signal.signal(n, signal.SIG_IGN)\n"
        " except (OSError, ValueError): pass\n"
        "def f(x):\n while True: pass"
    ),
    "backtracks": "import re\ndef f(x): return re.match(r'(a+)+$', 'a' * 60 + 'b')",
    "waits for what never comes": "import os\ndef f(x): return os.read(4, 1)",
    "threads that compute": (
        "import threading\ndef g():\n while True: pass\nfor _ in range(4): threading.Thread(target=g).start()\n"
        "def f(x):\n while True: pass"
    ),
    "length that never ends": "class T:\n def __iter__(s): return s\n def __next__(s): return 1\ndef f(x): return T()",
}
"""That end by a limit of time alone, or by being asked for something else."""
