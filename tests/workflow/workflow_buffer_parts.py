"""What the buffer's tests share: entries by a few figures, an embedder without a model, and specifications."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from components.core.spec.workflow_buffer import BufferSpec, EmbedderSpec
from components.workflow.buffer.entry import Entry, problem_hash
from components.workflow.buffer.normal import workflow_hash

SCALE = (-1.0, 1.0)
"""Of the shipped reward; three quarters up is 0.5."""
TINY = EmbedderSpec.model_validate({"source": {"kind": "tiny", "seed": 0}})


def spec(capacity: int = 100, threshold: float = 0.75, **changes: Any) -> BufferSpec:
    return BufferSpec(capacity=capacity, threshold=threshold, **changes)


def program(number: int) -> str:
    """Programs of different numbers are different workflows."""
    return f'class Workflow:\n    KIND = "{number}"\n'


def entry(
    problem: str = "one and one",
    *,
    workflow: int = 0,
    reward: float = 0.9,
    step: int = 1,
    domain: str = "math",
    problem_id: str = "",
    padding: str = "",
) -> Entry:
    source = program(workflow) + padding
    return Entry(
        problem_id=problem_id or f"id of {problem}",
        problem_hash=problem_hash(problem),
        domain=domain,
        dataset="gsm8k",
        problem=problem,
        workflow=source,
        workflow_hash=workflow_hash(source),
        reward=reward,
        parts={"correctness": reward},
        judge="gold",
        executor="scripted",
        step=step,
        time=1.0,
    )


class HashEmbedder:
    """Directions from the hash of the text, so that each has its own."""

    name = "hashes"
    version = "hashes-1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked += texts
        rows = []
        for text in texts:
            numbers = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8).astype(np.float64) - 127.5
            rows.append((numbers / np.linalg.norm(numbers)).astype(np.float32))
        return np.stack(rows)


class AngleEmbedder:
    """Texts ``... at 30``: the direction at so many degrees, so that cosines are known by hand."""

    name = "angles"
    version = "angles-1"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        degrees = np.radians([float(text.rsplit(" ", 1)[1]) for text in texts])
        return np.stack([np.cos(degrees), np.sin(degrees)], axis=1).astype(np.float32)
