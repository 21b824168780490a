"""What a call in the sandbox costs beside starting an interpreter for it.

``PYTHONPATH=. python tests/bench/sandbox.py``. The rival is the usual way without any isolation:
``subprocess.run([python, "-I", "-c", source])`` with the function's answer printed, in as many threads as the sandbox
has wardens. The function is of the kind that comes with VerInstruct. Rounds alternate, and the median of the rounds'
ratios is printed, since shared cores make single figures move twofold.

On two cores that others used as well, Python 3.11, two calls at once: level namespaces 9.3 ms a call, plain 58.7 ms,
5.8 times as fast; level filter 6.4 times.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from components.core.errors import ServiceError
from components.sandbox.outcome import Value
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import LEVELS

SOURCE = """
import re

def check_following(instruction, response):
    sentences = re.split(r"(?<=[.!?])\\s+", response)
    return all(len(sentence.split()) <= 10 for sentence in sentences)
"""
RESPONSE = "The cat sat on the mat. It slept there for a while. Then it left. " * 20
SCRIPT = f"import sys\n{SOURCE}\nprint(check_following('Write.', sys.stdin.read()))"


def plain(calls: int, at_once: int) -> float:
    """Seconds a call."""

    def one(_: int) -> bytes:
        command = [sys.executable, "-I", "-c", SCRIPT]
        return subprocess.run(command, input=RESPONSE.encode(), stdout=subprocess.PIPE, check=True).stdout

    begun = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        answers = list(pool.map(one, range(calls)))
    seconds = time.perf_counter() - begun
    assert answers == [b"True\n"] * calls
    return seconds / calls


async def sandboxed(sandbox: Sandbox, calls: int) -> float:
    """Seconds a call."""
    begun = time.perf_counter()
    found = await asyncio.gather(*(sandbox.run(SOURCE, "check_following", ["Write.", RESPONSE]) for _ in range(calls)))
    seconds = time.perf_counter() - begun
    assert all(isinstance(outcome, Value) and outcome.value is True for outcome in found)
    return seconds / calls


async def compare(level: str, calls: int, rounds: int) -> None:
    sandbox = Sandbox(level=level)
    try:
        begun = time.perf_counter()
        sandbox.start()
        start = time.perf_counter() - begun
        await sandboxed(sandbox, sandbox.concurrency * 4)
        pairs = [(plain(calls, sandbox.concurrency), await sandboxed(sandbox, calls)) for _ in range(rounds)]
    except ServiceError as error:
        print(f"{level}: not here ({error.where})")
        return
    finally:
        await sandbox.close()
    ratio = statistics.median(one / other for one, other in pairs)
    rival, ours = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    print(
        f"{level}: {ours:.1f} ms a call, plain subprocess {rival:.1f} ms, {ratio:.1f} times as fast "
        f"({sandbox.concurrency} at once; a warden starts in {start:.2f} s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=100, help="a round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    for level in LEVELS:
        asyncio.run(compare(level, given.calls, given.rounds))


if __name__ == "__main__":
    main()
