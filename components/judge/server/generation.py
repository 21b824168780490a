"""Batched token-by-token generation: greedy or sampled, with stop texts and a seed a prompt."""

import dataclasses
from collections.abc import Sequence

import torch

from components.judge.server.jobs import Answer, Job, TokenScore
from components.judge.server.model import Model
from components.judge.server.sharing import cut, shared_prefixes
from components.judge.server.text import Text


@dataclasses.dataclass(slots=True)
class _Row:
    """One prompt under generation."""

    job: Job
    dice: torch.Generator
    ids: list[int] = dataclasses.field(default_factory=list)
    scores: list[TokenScore] = dataclasses.field(default_factory=list)
    finish: str | None = None
    stop_reason: str | None = None
    text: str = ""


def generate(
    model: Model, text: Text, jobs: Sequence[Job], max_batch: int, max_batch_tokens: int = 4096
) -> dict[Job, Answer]:
    """Generate for every job, ``max_batch`` rows at a time, prompts of like length together.

    What several prompts begin with is computed once: a judge that is asked criterion by criterion sees the same text
    before each.
    """
    shared = shared_prefixes([job.ids for job in jobs]) if model.reuse else []
    model.keep_shared(shared, max_batch_tokens)
    cuts = {job: cut(job.ids, shared) for job in jobs}
    ordered = sorted(jobs, key=lambda job: (len(job.ids) - cuts[job], cuts[job]))
    found: dict[Job, Answer] = {}
    for start in range(0, len(ordered), max_batch):
        part = ordered[start : start + max_batch]
        found.update(_generate_batch(model, text, part, [cuts[job] for job in part]))
    return found


def _generate_batch(model: Model, text: Text, jobs: Sequence[Job], cuts: Sequence[int]) -> dict[Job, Answer]:
    rows = [_Row(job, _dice(job.seed)) for job in jobs]
    past = [model.prefixes.get(job.ids[:known]) if known else None for job, known in zip(jobs, cuts, strict=True)]
    # The memory may have given up a beginning in favour of others.
    known = torch.tensor([0 if layers is None else skip for layers, skip in zip(past, cuts, strict=True)])
    asked = [job.ids[skip:] for job, skip in zip(jobs, known.tolist(), strict=True)]
    lengths = torch.tensor([len(ids) for ids in asked])
    before, width = int(known.max()), int(lengths.max())
    hidden, cache = model.run(asked, past)
    mask = torch.cat(
        [torch.arange(before) >= (before - known)[:, None], torch.arange(width) < lengths[:, None]], dim=1
    ).long()
    states = hidden[torch.arange(len(jobs)), lengths - 1]
    for number in range(max(job.max_tokens for job in jobs)):
        logits = model.logits(states)
        chosen = [_advance(model, text, row, logits[place]) for place, row in enumerate(rows)]
        if all(row.finish for row in rows):
            break
        mask = torch.cat([mask, torch.ones(len(jobs), 1, dtype=torch.long)], dim=1)
        places = (known + lengths + number)[:, None]
        states = model.step(torch.tensor(chosen)[:, None], mask, places, cache)[:, -1]
    return {
        row.job: Answer((), tuple(row.ids), tuple(row.scores), row.text, row.finish or "length", row.stop_reason)
        for row in rows
    }


def _advance(model: Model, text: Text, row: _Row, logits: torch.Tensor) -> int:
    """Choose the next token of one row, record it, and say which token goes in next."""
    if row.finish:
        return 0
    job = row.job
    scores = torch.log_softmax(logits, dim=-1)
    index = int(scores.argmax()) if job.temperature == 0 else _sample(logits / job.temperature, job.top_p, row.dice)
    if index in model.ends and not job.ignore_eos:
        row.finish = "stop"
        return index
    best = scores.topk(job.top) if job.top else None
    tops = tuple(zip(best.indices.tolist(), best.values.tolist(), strict=True)) if best else ()
    row.ids.append(index)
    row.scores.append(TokenScore(float(scores[index]), tops))
    row.text = text.decode(tuple(row.ids), skip_special=True)
    for stop in job.stop:
        place = row.text.find(stop)
        if place >= 0:
            row.text, row.finish, row.stop_reason = row.text[:place], "stop", stop
            return index
    if len(row.ids) >= job.max_tokens:
        row.finish = "length"
    return index


def _sample(logits: torch.Tensor, top_p: float, dice: torch.Generator) -> int:
    chances = torch.softmax(logits, dim=-1)
    if top_p < 1.0:
        ordered, indices = chances.sort(descending=True)
        # The token that crosses the mass stays in, so at least one is left.
        ordered[ordered.cumsum(0) - ordered >= top_p] = 0.0
        return int(indices[torch.multinomial(ordered, 1, generator=dice)])
    return int(torch.multinomial(chances, 1, generator=dice))


def _dice(seed: int | None) -> torch.Generator:
    dice = torch.Generator()
    if seed is None:
        dice.seed()
    else:
        dice.manual_seed(seed)
    return dice
