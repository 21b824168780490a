"""Responses to many prompts, chunk by chunk; what a killed process had finished is not generated again."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.progress import Progress
from components.generate.model import Generator
from components.generate.partial import PartialFile
from components.generate.sampling import Sampling

Row = Mapping[str, Any]
"""``prompt``, a conversation, and ``extra_info`` with ``id``, ``split`` and ``question``: see the contract PROMPTS."""


def chunks(rows: Sequence[Row], size: int) -> list[list[Row]]:
    """Rows in groups of at most ``size``, of like prompt length, that depend on nothing but the rows."""

    def length(row: Row) -> tuple[int, str]:
        return sum(len(message["content"]) for message in row["prompt"]), row["extra_info"]["id"]

    ordered = sorted(rows, key=length)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def chunk_seed(seed: int, chunk: Sequence[Row]) -> int:
    """A seed for one chunk: resumed runs draw what an unbroken one would have drawn."""
    ids = " ".join(row["extra_info"]["id"] for row in chunk)
    return int.from_bytes(hashlib.sha256(f"{seed} {ids}".encode()).digest()[:4])


def answer(
    name: str,
    rows: Sequence[Row],
    sampling: Sampling,
    *,
    chunk: int,
    kept: Path,
    progress: Progress,
    load: Callable[[], Generator],
) -> list[dict[str, Any]]:
    """Rows of the GENERATIONS contract, in the order of ``rows``.

    Args:
        name: of the model, as in the contract.
        rows: what is asked.
        sampling: how responses are drawn.
        chunk: prompts after which finished work is kept.
        kept: file of JSON lines with what is finished; it need not be there yet.
        progress: is begun anew.
        load: gives the model; not called when everything was generated before.

    Raises:
        StepError: a prompt leaves no room for its response.
    """
    partial = PartialFile(kept, sampling.samples)
    done = partial.load()
    groups = chunks(rows, chunk)
    pending = [group for group in groups if any(row["extra_info"]["id"] not in done for row in group)]
    progress.begin(len(rows), f"{name} prompt", done=len(rows) - sum(map(len, pending)))
    if pending:
        progress.phase(f"loading the {name} policy")
        generator = load()
        for group in pending:
            finished = _answer_chunk(generator, group, sampling)
            partial.append(finished)
            done.update({str(row["row_id"]): row for row in finished})
            progress.advance(len(group))
        generator.close()
    return [
        {
            "model": name,
            "split": row["extra_info"]["split"],
            "question": row["extra_info"]["question"],
            **done[row["extra_info"]["id"]],
        }
        for row in rows
    ]


def mean_tokens(rows: Sequence[Mapping[str, Any]]) -> float:
    """Mean number of tokens of a response."""
    counts: list[int] = [tokens for row in rows for tokens in row["response_tokens"]]
    return sum(counts) / len(counts)


def _answer_chunk(generator: Generator, group: Sequence[Row], sampling: Sampling) -> list[dict[str, Any]]:
    seeded = dataclasses.replace(sampling, seed=chunk_seed(sampling.seed, group))
    return [
        {
            "row_id": group[generation.index]["extra_info"]["id"],
            "responses": list(generation.responses),
            "finished": list(generation.finished),
            "response_tokens": list(generation.response_tokens),
        }
        for generation in generator.generate([row["prompt"] for row in group], seeded)
    ]
