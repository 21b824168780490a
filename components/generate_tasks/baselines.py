"""Workflows that no policy wrote, in the form of one's answers: they are executed and scored beside it."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from components.generate.answers import Row
from components.workflow.baselines import as_response, direct, hand_written, random_valid
from components.workflow.prompts.problems import problem_of
from components.workflow.types import Problem

BASELINES: Final = ("direct", "hand_written", "random_valid")
"""Names of these models in tables: one question to the executor model, the template of the domain, a random program."""


def baseline_rows(rows: Sequence[Row], samples: Mapping[str, int], seed: int, calls: int) -> list[dict[str, Any]]:
    """Rows of the GENERATIONS contract. Nobody generated anything, so that each has 0 response tokens.

    Args:
        rows: tests, of the PROMPTS contract.
        samples: domain -> answers a task; random programs differ from answer to answer, the others are the same.
        seed: of the random programs.
        calls: of a workflow's budget, within which random programs stay.
    """
    found = []
    for name, write in _WRITERS.items():
        for row in rows:
            info, problem = row["extra_info"], problem_of(row)
            number = samples[row["ability"]]
            sources = [write(problem, _number(seed, info["id"], each), calls) for each in range(number)]
            found.append(
                {
                    "model": name,
                    "row_id": info["id"],
                    "split": info["split"],
                    "question": info["question"],
                    "responses": [as_response(source) for source in sources],
                    "finished": [True] * number,
                    "response_tokens": [0] * number,
                }
            )
    return found


def _number(seed: int, row_id: str, index: int) -> int:
    """A seed for one answer."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{row_id}/{index}".encode()).digest()[:4], "big")


_WRITERS: Final[Mapping[str, Callable[[Problem, int, int], str]]] = {
    "direct": lambda problem, *_: direct(problem),
    "hand_written": lambda problem, *_: hand_written(problem),
    "random_valid": lambda problem, number, calls: random_valid(number, problem, calls),
}
