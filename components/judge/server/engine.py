"""Answers batches of jobs: identical prompts once, sorted by length, shared prefixes from memory."""

import collections
from collections.abc import Sequence

import torch

from components.judge.server.batches import batches
from components.judge.server.generation import generate
from components.judge.server.jobs import Answer, Job, TokenScore
from components.judge.server.model import Model
from components.judge.server.prefixes import Layers
from components.judge.server.text import Text

_MIN_PREFIX = 4
"""A prefix shorter than this is cheaper to compute again than to look up."""


class Engine:
    """Model and tokenizer behind one blocking call; not safe for several threads at once.

    Args:
        model: the network.
        text: its tokenizer.
        max_batch: rows of one forward pass.
        max_batch_tokens: tokens of one forward pass, padding included.
    """

    def __init__(self, model: Model, text: Text, *, max_batch: int = 32, max_batch_tokens: int = 4096) -> None:
        self.model = model
        self.text = text
        self.max_batch = max_batch
        self.max_batch_tokens = max_batch_tokens

    def answer(self, jobs: Sequence[Job]) -> list[Answer]:
        """One answer a job, in order; jobs that are equal are computed once."""
        with torch.inference_mode():
            return self._answer(jobs)

    def _answer(self, jobs: Sequence[Job]) -> list[Answer]:
        places: dict[Job, list[int]] = collections.defaultdict(list)
        for number, job in enumerate(jobs):
            places[job].append(number)
        unique = list(places)
        scored = self._score([job for job in unique if job.score_from is not None])
        writers = [job for job in unique if job.max_tokens]
        written = generate(self.model, self.text, writers, self.max_batch, self.max_batch_tokens)
        answers: list[Answer | None] = [None] * len(jobs)
        for job, numbers in places.items():
            made = written.get(job, Answer(prompt=()))
            whole = Answer(
                prompt=scored.get(job, (None,) * len(job.ids)),
                ids=made.ids,
                scores=made.scores,
                text=made.text,
                finish=made.finish,
                stop_reason=made.stop_reason,
            )
            for number in numbers:
                answers[number] = whole
        return [answer for answer in answers if answer is not None]

    def _score(self, jobs: Sequence[Job]) -> dict[Job, tuple[TokenScore | None, ...]]:
        """Log-probabilities of prompt tokens, from ``score_from`` on."""
        found: dict[Job, tuple[TokenScore | None, ...]] = {}
        work: list[tuple[Job, int]] = []
        for job in jobs:
            first = max(job.score_from or 0, 1)
            if first >= len(job.ids):
                found[job] = (None,) * len(job.ids)
            else:
                work.append((job, first))
        cuts = {job: self._cut(first) for job, first in work}
        self.model.keep_prefixes([job.ids[: cuts[job]] for job, _ in work], self.max_batch_tokens)
        work.sort(key=lambda pair: (len(pair[0].ids) - cuts[pair[0]], cuts[pair[0]]))
        for part in batches(
            work, lambda pair: len(pair[0].ids) - cuts[pair[0]], rows=self.max_batch, tokens=self.max_batch_tokens
        ):
            found.update(self._score_batch(part, cuts))
        return found

    def _cut(self, first: int) -> int:
        """Tokens to take from memory: all whose outputs nobody asks for."""
        return first - 1 if self.model.reuse and first - 1 >= _MIN_PREFIX else 0

    def _score_batch(
        self, work: Sequence[tuple[Job, int]], cuts: dict[Job, int]
    ) -> dict[Job, tuple[TokenScore | None, ...]]:
        past: list[Layers | None] = []
        rows: list[tuple[int, ...]] = []
        lengths: list[int] = []
        for job, _ in work:
            cut = cuts[job]
            layers = self.model.prefixes.get(job.ids[:cut]) if cut else None
            lengths.append(cut if layers is not None else 0)
            past.append(layers)
            rows.append(job.ids[lengths[-1] : -1])
        hidden, _ = self.model.run(rows, past)
        picked: list[torch.Tensor] = []
        targets: list[int] = []
        for number, (job, first) in enumerate(work):
            picked.append(hidden[number, first - 1 - lengths[number] : len(job.ids) - 1 - lengths[number]])
            targets.extend(job.ids[first:])
        top = max(job.top for job, _ in work)
        values, tops = self.model.log_probs(torch.cat(picked), torch.tensor(targets), top)
        numbers = values.tolist()
        best = (
            [list(zip(i, v, strict=True)) for v, i in zip(tops[0].tolist(), tops[1].tolist(), strict=True)]
            if tops
            else []
        )
        found: dict[Job, tuple[TokenScore | None, ...]] = {}
        place = 0
        for job, first in work:
            scores: list[TokenScore | None] = [None] * first
            for _ in job.ids[first:]:
                scores.append(TokenScore(numbers[place], tuple(best[place][: job.top]) if job.top else ()))
                place += 1
            found[job] = tuple(scores)
        return found
