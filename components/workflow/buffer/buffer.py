"""The experience buffer: right workflows of high reward, which show the policy how similar problems were solved.

All that was kept stays in the file, with its step, and what counts is worked out from it at each look
(:mod:`components.workflow.buffer.view`): so a look at step s finds the same, whether later steps have been, were
undone, or pushed entries out.
"""

import collections
import dataclasses
import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from components.core.errors import ContractError
from components.core.spec.workflow_buffer import BufferSpec
from components.tasks.sets import DOMAINS
from components.workflow.buffer.database import FILE, Database
from components.workflow.buffer.embed import Embedder
from components.workflow.buffer.entry import Entry, Forbidden, Vector, problem_hash
from components.workflow.buffer.view import best, nearest
from components.workflow.reward import WorkflowReward
from components.workflow.types import Problem


class Offered(enum.StrEnum):
    """What became of an offer."""

    KEPT = "kept"
    NOT_RIGHT = "not_right"
    """It abstained, failed, or its answer is not right."""
    BELOW_THRESHOLD = "below_threshold"
    TEST_PROBLEM = "test_problem"
    """Its problem is one that the policy is tested on."""
    DUPLICATE = "duplicate"
    """The same workflow is there with as much reward or more."""
    FULL = "full"
    """As many others are better as the buffer holds."""


class ExperienceBuffer:
    """The buffer of one training; any number of processes and threads may have it open, and write.

    What :meth:`offer` has kept survives ``kill -9`` and a loss of power.

    Args:
        folder: the training's work folder, which gets :data:`FILE`.
        spec: what is kept.
        scale: lowest and highest reward that there can be (``WorkflowRewardSpec.scale``).
        forbidden: problems of the test splits.
        embedder: see :func:`components.workflow.buffer.embed.build_embedder`.

    Raises:
        StorageError: from every method: the file cannot be opened, read or written, or is damaged.
    """

    def __init__(
        self, folder: Path, spec: BufferSpec, scale: tuple[float, float], forbidden: Forbidden, embedder: Embedder
    ) -> None:
        self.spec = spec
        self.least = spec.least(scale)
        self.embedder = embedder
        self._forbidden = forbidden
        self._database = Database(folder / FILE)
        self._database.describe({"spec": spec.model_dump(mode="json"), "scale": list(scale)})

    def offer_sample(
        self,
        problem_id: str,
        problem: Problem,
        workflow: str,
        reward: WorkflowReward,
        *,
        judge: str,
        executor: str,
        step: int,
    ) -> Offered:
        """Offer a sample whatever it earned; for the arguments see :meth:`Entry.of`."""
        if reward.value is None or reward.right is not True:
            return Offered.NOT_RIGHT
        if refused := self._refused(problem_id, problem_hash(problem.text), reward.value):
            return refused
        return self.offer(Entry.of(problem_id, problem, workflow, reward, judge=judge, executor=executor, step=step))

    def offer(self, entry: Entry) -> Offered:
        """Keep an entry, if it is good enough; then it is on the disk when this returns."""
        refused = self._refused(entry.problem_id, entry.problem_hash, entry.reward) or self._outranked(entry)
        if refused:
            return refused
        # Before the others are kept waiting.
        self._vectors([entry])
        with self._database.writing():
            refused = self._outranked(entry)
            if refused:
                return refused
            self._database.add(entry)
        return Offered.KEPT

    def entries(self, domain: str | None = None, *, step: int | None = None) -> list[Entry]:
        """What counts, by domain and the best first; without vectors.

        Args:
            domain: of the entries; None for all.
            step: only what earlier steps kept; None for all.
        """
        found: list[Entry] = []
        for each in DOMAINS if domain is None else (domain,):
            ranks = best(self._database.ranked(each, before=step), self.spec.capacity, self._forbidden)
            found += self._database.entries(ranks)
        return found

    def at(self, step: int) -> "View":
        """What training step ``step`` sees: entries of the steps before it."""
        return View(self, step)

    def similar(
        self, problem: str, domain: str, k: int = 3, *, step: int | None = None, problem_id: str | None = None
    ) -> list[tuple[Entry, float]]:
        """The entries whose problems are most similar, one a problem, with their cosines, the most similar first.

        Never the problem itself: the policy would be shown its own answer from an earlier round, be paid for copying
        it, and stand without it in the test.

        Args:
            problem: its text (``Problem.text``).
            domain: of the problem; entries of others are not looked at.
            k: how many at most.
            step: only entries of earlier steps; None for all.
            problem_id: of its row, which is left out as well.

        Raises:
            ContractError: the domain is unknown, or the text is blank.
        """
        if domain not in DOMAINS:
            raise ContractError(f"no domain is named {domain!r}", remedy=f"one of {', '.join(DOMAINS)}")
        own = problem_hash(problem)
        others = [
            entry
            for entry in self.entries(domain, step=step)
            if entry.problem_hash != own and entry.problem_id != problem_id
        ]
        if not others or k < 1:
            return []
        query = self._vector_of(problem)
        vectors = self._vectors(others)
        found = nearest(others, [vectors[entry.problem] for entry in others], query, k)
        return [(dataclasses.replace(entry, embedding=vectors[entry.problem]), cosine) for entry, cosine in found]

    def forget_after(self, step: int) -> int:
        """Undo the steps after ``step``, which a resumed training repeats; how many entries are gone.

        To be called before the trainer starts, while nobody else writes.
        """
        return self._database.forget_after(step)

    def keep_vectors(self, entries: Sequence[Entry]) -> None:
        """Take over the vectors of entries, which the very same version of the embedder made."""
        for entry in entries:
            if entry.embedding is not None:
                self._database.keep_vector(self.embedder.version, entry.problem, entry.embedding)

    def embedded(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries with their vectors."""
        vectors = self._vectors(entries)
        return [dataclasses.replace(entry, embedding=vectors[entry.problem]) for entry in entries]

    def fill(self) -> dict[str, int]:
        """How many entries of each domain count."""
        counts = collections.Counter(entry.domain for entry in self.entries())
        return {domain: counts[domain] for domain in DOMAINS}

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refused(self, problem_id: str, hashed: str, reward: float) -> Offered | None:
        if self._forbidden.holds(problem_id, hashed):
            return Offered.TEST_PROBLEM
        return None if reward >= self.least else Offered.BELOW_THRESHOLD

    def _outranked(self, entry: Entry) -> Offered | None:
        """Why no look can ever find the entry. Later steps play no part in it, since they may be undone."""
        better = best(self._database.outranking(entry), self.spec.capacity, self._forbidden)
        if any(each.workflow_hash == entry.workflow_hash for each in better):
            return Offered.DUPLICATE
        return Offered.FULL if len(better) == self.spec.capacity else None

    def _vectors(self, entries: Sequence[Entry]) -> dict[str, Vector]:
        """By the text of the problem; those that are missing are made and kept."""
        texts = list(dict.fromkeys(entry.problem for entry in entries))
        found = self._database.vectors(self.embedder.version, texts)
        return {text: found[text] if text in found else self._vector_of(text) for text in texts}

    def _vector_of(self, text: str) -> Vector:
        """As kept: another process, or a resumed training on another machine, gets the same digits."""
        version = self.embedder.version
        found = self._database.vectors(version, [text])
        if not found:
            self._database.keep_vector(version, text, self.embedder.embed([text])[0])
            found = self._database.vectors(version, [text])
        return found[text]


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """The buffer as one training step sees it.

    Attributes:
        buffer: the whole.
        step: entries of earlier steps count.
    """

    buffer: ExperienceBuffer
    step: int

    def entries(self, domain: str | None = None) -> list[Entry]:
        """See :meth:`ExperienceBuffer.entries`."""
        return self.buffer.entries(domain, step=self.step)

    def similar(
        self, problem: str, domain: str, k: int = 3, *, problem_id: str | None = None
    ) -> list[tuple[Entry, float]]:
        """See :meth:`ExperienceBuffer.similar`."""
        return self.buffer.similar(problem, domain, k, step=self.step, problem_id=problem_id)
