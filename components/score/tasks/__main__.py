"""``python -m components.score.tasks``: scores of predictions in a file, and the comparison of two such files."""

import argparse
import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError, GavelError
from components.core.progress import Progress
from components.score.tasks import comparing
from components.score.tasks.lines import read_lines
from components.score.tasks.results import SAMPLING, check_writable, rows, summary, write
from components.score.tasks.scoring import score_lines
from components.tasks.sets import DATASETS, domain


def main(arguments: Sequence[str] | None = None) -> int:
    """Score a file, or compare two; status 1 and nothing written when something is wrong with the files."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _compare(given[1:]) if given[:1] == ["compare"] else _score(given)
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _score(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m components.score.tasks",
        description="Score predictions by a data set's official metrics.",
        epilog="python -m components.score.tasks compare A B compares two files of scores.",
    )
    parser.add_argument("--dataset", required=True, choices=list(DATASETS))
    parser.add_argument("--predictions", type=Path, required=True, help='JSON lines {"id", "gold", "prediction"}')
    parser.add_argument("--output", type=Path, required=True, help="JSON lines: a row's scores each, then the summary")
    parser.add_argument("--k", type=int, nargs="+", default=None, help="of pass@k, for programs; default: 1")
    options = parser.parse_args(arguments)
    if options.output.resolve() == options.predictions.resolve():
        raise ConfigError("--output is the file of predictions", where=str(options.output), remedy="name another")
    check_writable(options.output)
    if options.k and (domain(options.dataset) != "code" or min(options.k) < 1):
        raise ConfigError("--k is for programs, and from 1 on", remedy="leave it out")
    lines = read_lines(options.predictions, options.dataset)
    progress = Progress("score", sum(len(line.answers) for line in lines), "answer", stream=sys.stderr)
    scored = list(zip(lines, asyncio.run(score_lines(lines, progress)), strict=True))
    found = summary(options.dataset, scored, options.k or [1])
    write(options.output, [*rows(options.dataset, scored), {"summary": found}])
    print(json.dumps({"summary": found}))
    if found["unknown"]:
        print(f"{found['unknown']} of {len(lines)} lines could not be scored; 'reason' says why", file=sys.stderr)
    return 0


def _compare(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m components.score.tasks compare",
        description="Compare two files of scores row by row: change, paired interval, exact sign test.",
    )
    parser.add_argument("first", type=Path, help="file of scores")
    parser.add_argument("second", type=Path, help="file of scores of the same rows")
    parser.add_argument("--output", type=Path, help="also write the comparison there, as JSON")
    options = parser.parse_args(arguments)
    if options.output is not None:
        check_writable(options.output)
    dataset, found = comparing.compare_files(options.first, options.second, SAMPLING)
    print(f"{dataset}, in percent\n{comparing.table(found)}")
    if dropped := max(each.dropped for each in found.values()):
        print(f"{dropped} ids have no known score on both sides and are left out", file=sys.stderr)
    if options.output is not None:
        metrics = {metric: dataclasses.asdict(each) for metric, each in found.items()}
        write(options.output, [{"dataset": dataset, "metrics": metrics}])
    return 0


if __name__ == "__main__":
    sys.exit(main())
