"""How many verdicts a second the embedded judge gives, with and without each of its short cuts.

``PYTHONPATH=. python tests/bench/judge_server.py MODEL_FOLDER [--rounds 3] [--threads 2] [--busy]``

Prints wall seconds and CPU seconds of the server for 16 responses of about 20 tokens under one criterion. CPU seconds
are the figure to compare on a machine that others use. ``--busy`` lets two spinning processes share the cores, and
compares the OpenMP settings instead. No test runs this: a time is not a property of the code alone.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from components.core.spec.judge import JudgeSpec
from components.core.spec.reward import RewardSpec
from components.judge.build import build_judge
from components.judge.completions import CompletionsJudge
from components.judge.verdict import Criterion, Sample, VerdictStatus

ROOT = Path(__file__).parents[2]
SUBJECTS = ["cat", "farmer", "storm", "teacher", "river", "baker", "train", "garden"]
RESPONSES = [
    f"The old {one} stood beside the {other} near the harbour while the evening lights of the town went out slowly."
    for one in SUBJECTS[:4]
    for other in SUBJECTS[4:]
]
BUSY = "while True: pass"
SPINNING = {"OMP_WAIT_POLICY": "ACTIVE", "GOMP_SPINCOUNT": "300000"}


@contextmanager
def server(folder: Path, threads: int, env: dict[str, str], *options: str) -> Iterator[tuple[str, psutil.Process]]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "components.judge.server", "--model", str(folder), "--name", "m"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--threads", str(threads), *options],
        env={**os.environ, **env, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                urllib.request.urlopen(url + "/health", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield url, psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait()


async def judge_all(url: str, place_known: bool | None) -> None:
    spec = JudgeSpec(
        name="bench",
        family="bench",
        serving="external",
        endpoint=url,
        model_name="m",
        context_tokens=2048,
        logprobs=True,
        timeout_seconds=600.0,
        max_concurrency=16,
    )
    judge: Any = build_judge(spec, RewardSpec(name="r"), url, None)
    assert isinstance(judge, CompletionsJudge)
    judge._starts_known = place_known
    asked = [Sample("r", str(n), "", text, (Criterion("mentions an animal"),)) for n, text in enumerate(RESPONSES)]
    verdicts = await asyncio.gather(*(judge.judge(each) for each in asked))
    await judge.close()
    assert all(each.status is not VerdictStatus.UNKNOWN for (each,) in verdicts)


def measure(url: str, process: psutil.Process, rounds: int, place_known: bool | None) -> tuple[float, float]:
    """Least wall and CPU seconds of one round; the first round, which fills the prefixes, does not count."""
    found = []
    for _ in range(rounds + 1):
        wall, cpu = time.monotonic(), sum(process.cpu_times()[:2])
        asyncio.run(judge_all(url, place_known))
        found.append((time.monotonic() - wall, sum(process.cpu_times()[:2]) - cpu))
    return min(wall for wall, _ in found[1:]), min(cpu for _, cpu in found[1:])


def short_cuts(folder: Path, threads: int, rounds: int) -> None:
    plain: float | None = None
    for name, place_known, options in (
        ("one prompt at a time, all positions", False, ("--max-batch", "1", "--prefix-mib", "0")),
        (
            "batches, all positions",
            False,
            (
                "--prefix-mib",
                "0",
            ),
        ),
        ("batches, head on the response alone", True, ("--prefix-mib", "0")),
        ("batches, kept prefixes", True, ()),
    ):
        with server(folder, threads, {}, *options) as (url, process):
            wall, cpu = measure(url, process, rounds, place_known)
        plain = plain or cpu
        print(
            f"{name:38} {len(RESPONSES) / wall:7.1f} verdicts/s  wall {wall:6.2f} s  cpu {cpu:6.2f} s  "
            f"{plain / cpu:5.1f} times less cpu",
            flush=True,
        )


def openmp(folder: Path, threads: int, rounds: int) -> None:
    rivals = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    try:
        for name, env in (
            ("threads that spin", SPINNING),
            ("libgomp's default", {"OMP_WAIT_POLICY": ""}),
            ("ours", {}),
        ):
            with server(folder, threads, env) as (url, process):
                wall, cpu = measure(url, process, rounds, True)
            print(
                f"{name:20} {len(RESPONSES) / wall:6.1f} verdicts/s  wall {wall:6.2f} s  cpu {cpu:6.2f} s", flush=True
            )
    finally:
        for rival in rivals:
            rival.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    (openmp if options.busy else short_cuts)(options.model, options.threads, options.rounds)


if __name__ == "__main__":
    main()
