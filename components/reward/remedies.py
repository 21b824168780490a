"""What a run lost its samples to, in words, and what to change before it goes on."""

import collections
from collections.abc import Collection
from typing import Final

from components.reward.judgement import RULE, Judgement

_FORM = "take a judge that keeps to the form, or reward.protocol rubric_token, which needs none"
_REMEDIES: Final = {
    "unparseable": _FORM,
    "missing": _FORM,
    "contradictory": "take another judge (in pairwise this one follows the position), or raise reward.max_abstain_rate",
    "undecided": "take a larger judge, or raise reward.max_abstain_rate",
    "split": "add a member to the panel or combine by mean, or raise reward.max_abstain_rate",
    "truncated": "raise judge.max_answer_tokens, or set judge.thinking: false",
    "low_mass": "lower reward.min_mass, or choose another reward.protocol",
    "too_long": "shorten the responses, lower judge.max_answer_tokens, or take a judge with longer context_tokens",
    "rejected": "mend what the server rejects (api_key_env, model_name, endpoint or profile)",
    "refused": "take a judge without that content filter, or other data",
    "rule_failed": "mend the rules of these rows or leave the rows out (data.constraints all_to_judge or soft_only run "
    "none); checked once more they would fail once more",
}
"""By the reason of most unknown verdicts."""

NO_TEXT: Final = "see why the policy writes nothing (training.temperature, its chat template, its stop tokens)"
"""What to do about empty responses."""


_EXECUTOR: Final = {
    "truncated": "raise workflow.executor.max_answer_tokens, or set workflow.executor.thinking: false",
    "rejected": "mend what the executor's server rejects (api_key_env, model_name, endpoint or profile of "
    "workflow.executor)",
    "refused": "take an executor model without that content filter, or other data",
    "rule_failed": "see that this machine permits sandboxes and that answers can be checked",
}
"""Of an experiment whose executor model runs workflows."""


def what_was_lost(newest: Collection[Judgement], judge: str, executor: str | None = None) -> str:
    """How many of the newest samples abstained, and whether judge or rules are to blame, or what executes workflows.

    Args:
        newest: samples, at least one of which abstained.
        judge: its name.
        executor: name of the executor model of an experiment with workflows.
    """
    if executor is not None:
        return _workflows_lost(newest, executor)
    reasons = collections.Counter(reason for judgement in newest for reason in judgement.reasons)
    listed = ", ".join(f"{name} {number}" for name, number in reasons.most_common(5))
    lost = [judgement for judgement in newest if judgement.abstained]
    by_rules = sum(judgement.rules_failed for judgement in lost)
    if by_rules == len(lost):
        return f"rules could not be checked for {len(lost)} of the newest {len(newest)} samples ({listed})"
    more = f"; for {by_rules} of them it was rules that failed, and not the judge" if by_rules else ""
    return f"judge {judge} could not judge {len(lost)} of the newest {len(newest)} samples ({listed}){more}"


def _workflows_lost(newest: Collection[Judgement], executor: str) -> str:
    lost = [judgement for judgement in newest if judgement.abstained]
    causes: dict[str, collections.Counter[str]] = {}
    for judgement in lost:
        verdict = next(each for each in judgement.verdicts if each.reason is not None)
        causes.setdefault(verdict.judge, collections.Counter())[str(verdict.reason)] += 1
    told = []
    for who, reasons in sorted(causes.items(), key=lambda item: -item[1].total()):
        whom = f"executor {who}" if who == executor else "sandbox or check" if who == RULE else f"judge {who}"
        listed = ", ".join(f"{name} {number}" for name, number in reasons.most_common(5))
        told.append(f"{whom} failed for {reasons.total()} ({listed})")
    return f"{len(lost)} of the newest {len(newest)} workflows have no reward: {'; '.join(told)}"


def remedy_for(newest: Collection[Judgement], executor: str | None = None) -> str:
    """What to change, by the most frequent reason among the samples that abstained; see :func:`what_was_lost`."""
    reasons = collections.Counter(reason for judgement in newest if judgement.abstained for reason in judgement.reasons)
    most = reasons.most_common(1)[0][0] if reasons else ""
    if executor is not None:
        return _EXECUTOR.get(most, f"look at the log and endpoint of executor {executor}, and bring it up again")
    return _REMEDIES.get(most, "look at the judge's log and endpoint")
