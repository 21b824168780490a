"""From outcomes to accuracies."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from components.score.ifeval.evaluate import Outcome
from components.score.ifeval.prompts import Prompt
from components.score.ifeval.responses import Response


@dataclass(frozen=True, slots=True)
class Scored:
    """A prompt with its responses and what each follows."""

    prompt: Prompt
    responses: tuple[Response, ...]
    outcomes: tuple[Outcome, ...]


def totals(scored: Sequence[Scored]) -> dict[str, Any]:
    """Accuracies as fractions, and counts.

    With several samples a prompt, each prompt and each instruction counts by the mean over its samples. The standard
    errors are those of the mean over prompts; None for a single prompt.
    """
    prompt_strict = [fmean(all(outcome.strict) for outcome in one.outcomes) for one in scored]
    prompt_loose = [fmean(all(outcome.loose) for outcome in one.outcomes) for one in scored]
    by_type: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in scored:
        for place, kind in enumerate(one.prompt.kinds):
            strict = fmean(outcome.strict[place] for outcome in one.outcomes)
            by_type[kind].append((strict, fmean(outcome.loose[place] for outcome in one.outcomes)))
    by_category: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for kind, pairs in by_type.items():
        by_category[kind.partition(":")[0]] += pairs
    every = [pair for pairs in by_type.values() for pair in pairs]
    return {
        "Pr_S": fmean(prompt_strict),
        "Ins_S": _accuracy(every)["strict"],
        "Pr_L": fmean(prompt_loose),
        "Ins_L": _accuracy(every)["loose"],
        "Pr_S_standard_error": _standard_error(prompt_strict),
        "Pr_L_standard_error": _standard_error(prompt_loose),
        "prompts": len(scored),
        "instructions": len(every),
        **_counts(scored),
        "by_category": {name: _accuracy(by_category[name]) for name in sorted(by_category)},
        "by_type": {name: _accuracy(by_type[name]) for name in sorted(by_type)},
    }


def _counts(scored: Sequence[Scored]) -> dict[str, int]:
    responses = [response for one in scored for response in one.responses]
    return {
        "responses": sum(not response.missing for response in responses),
        "reasoning_removed": sum(response.reasoned for response in responses),
        "no_answer": sum(not response.text.strip() for response in responses),
        "unfinished_reasoning": sum(response.unfinished for response in responses),
        "missing": sum(response.missing for response in responses),
        "language_not_detected": sum(sum(outcome.unsure) for one in scored for outcome in one.outcomes),
    }


def _accuracy(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {
        "instructions": len(pairs),
        "strict": fmean(strict for strict, _ in pairs),
        "loose": fmean(loose for _, loose in pairs),
    }


def _standard_error(values: Sequence[float]) -> float | None:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
