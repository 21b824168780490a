"""The step score: gold and judge on the held-out responses, gold on the training rollouts."""

import asyncio
import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.core.contracts import SCORES, VERDICTS, read_table, write_table
from components.core.errors import StepError
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.deployed import keeping
from components.judge.memory import Entry, Ledger
from components.judge.memory.shipping import LEDGER, shipped
from components.judge.panel.tally import Tally
from components.judge.verdict import Sample
from components.reward.judgement import RULE, Judgement
from components.reward.remedies import remedy_for
from components.reward.rewarder import build_rewarder, reward_of
from components.reward.rubric import Reward
from components.reward.shortfall import newest_words, over_budget
from components.score.judging import judge_samples, known_verdicts, latest
from components.score.responses import Response, heldout_responses, read_prompts, training_responses
from components.score.summary import sources_of, summarise
from components.score.task_verdicts import task_verdicts

if TYPE_CHECKING:
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """What the scores depend on beside the inputs, which carry rubric and gold checks."""
    return {"judge": experiment.judge_identity(), "reward": experiment.reward_identity()}


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write scores.parquet, verdicts.parquet, calls.parquet and summary.json, and rollout_scores.parquet where there
    is a training."""
    data = context.inputs["data"]
    heldout = heldout_responses(
        context.inputs["generations"] / "generations.parquet", read_prompts(data / "heldout.parquet")
    )
    rollouts = []
    if "training" in context.inputs:
        rollouts = training_responses(
            context.inputs["training"] / "rollouts.parquet", read_prompts(data / "train.parquet")
        )
    found = score_by_judge(context, heldout, sources_of(data / "heldout.parquet"))
    if "training" not in context.inputs:
        return found
    tasks = {}
    if any(response.is_task for response, _, _ in rollouts):
        tasks = task_verdicts(read_table(context.inputs["training"] / "verdicts.parquet", VERDICTS).to_pylist())
    rows = [
        response.scored(status, reward, tasks.get(response.sample.sample_id)) for response, status, reward in rollouts
    ]
    write_table(context.out / "rollout_scores.parquet", rows, SCORES)
    return {**found, **_summary(rows)}


def score_by_judge(
    context: StepContext, responses: Sequence[Response], sources: Mapping[str, str]
) -> Mapping[str, Scalar]:
    """Judge responses; write scores.parquet, verdicts.parquet, calls.parquet and summary.json.

    Args:
        context: with a training among the inputs, its calls count for the judges' budgets.
        responses: what is judged.
        sources: by row id, the name of the data that the prompt is from.
    """
    path = context.work / LEDGER
    with shipped(path, context), Ledger(path) as ledger:
        rewards = judge_responses(context, responses, ledger)
        written = ledger.rows()
        calls = ledger.export_calls(context.out / "calls.parquet")
    tasks = task_verdicts(dataclasses.asdict(entry) for entry in written if entry.judge == RULE)
    rows = [
        response.scored(
            rewards[response.sample.sample_id].status,
            rewards[response.sample.sample_id].value,
            tasks.get(response.sample.sample_id),
        )
        for response in responses
    ]
    verdicts = []
    for name in _judges(context.experiment):
        entries = latest(entry for entry in written if entry.judge == name)
        verdicts += [
            dataclasses.asdict(entries[response.sample.sample_id][index])
            for response in responses
            for index in sorted(entries.get(response.sample.sample_id, {}))
        ]
    write_table(context.out / "scores.parquet", rows, SCORES)
    write_table(context.out / "verdicts.parquet", verdicts, VERDICTS)
    agreement = _agreement(context.experiment, written)
    summary = {**summarise(context.experiment, rows, sources), "verdicts": len(verdicts), "calls": calls, **agreement}
    (context.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return {"verdicts": len(verdicts), "calls": calls, **_summary(rows), **agreement}


def _judges(experiment: "Experiment") -> list[str]:
    """Whose verdicts are published: those that make the reward first (judge or panel, and rules), then those of a
    panel's members."""
    members = [judge.name for judge in experiment.judges()] if experiment.panel is not None else []
    return [experiment.verdict_name, RULE, *members]


def _agreement(experiment: "Experiment", entries: Sequence[Entry]) -> dict[str, Scalar]:
    """How far a panel's members agree on the held-out responses, and how often each accepts; nothing for one judge."""
    if experiment.panel is None:
        return {}
    members = [judge.name for judge in experiment.judges()]
    tally = Tally.of_entries(entries, members)
    found: dict[str, Scalar] = {"panel_alpha": tally.alpha, "panel_units": tally.units, "panel_split": tally.split}
    for name in members:
        found[f"acceptance_{name}"] = tally.members[name].rate if name in tally.members else None
    return found


def judge_responses(context: StepContext, responses: Sequence[Response], ledger: Ledger) -> dict[str, Reward]:
    """The reward of each response by sample id; what the ledger knows is not asked again. Responses of a control arm
    get the rubric's reward by the judge, as those of any other arm.

    Raises:
        StepError: more than ``reward.max_abstain_rate`` of the samples abstain. Empty responses, for which nobody is
            to blame, do not count.
        JudgeError: the judge is not deployed, cannot be asked at all, or its budget is used up.
    """
    experiment, reward = context.experiment, context.experiment.reward
    rewards: dict[str, Reward] = {}
    failed: list[Judgement] = []

    def note(sample: Sample, judgement: Judgement) -> None:
        rewards[sample.sample_id] = judgement.reward
        if not judgement.abstained or judgement.empty:
            return
        failed.append(judgement)
        # As soon as the limit is passed: with a judge that is down every further sample would only cost its timeouts.
        if len(failed) > reward.max_abstain_rate * len(responses):
            raise _unusable(experiment, failed, len(rewards), len(responses), ledger)

    before = latest(entry for entry in ledger.rows() if entry.judge in (experiment.verdict_name, RULE))
    pending = []
    for response in responses:
        verdicts = known_verdicts(response.sample, before.get(response.sample.sample_id, {}))
        if verdicts is None:
            pending.append(response.sample)
        else:
            note(response.sample, Judgement(reward_of(reward, response.sample, verdicts), verdicts))
    context.progress.begin(len(responses), "response", done=len(responses) - len(pending))

    def done(sample: Sample, judgement: Judgement) -> None:
        note(sample, judgement)
        context.progress.advance()

    if pending:
        earlier = [context.inputs["training"] / "calls.parquet"] if "training" in context.inputs else []
        concurrency = max(member.max_concurrency for member in experiment.judges())
        # Generating may have taken longer than the judges' leases last.
        with keeping(experiment.judges(), experiment.cluster, experiment.name, context.progress):
            rewarder = build_rewarder(experiment, context.state, ledger, earlier=earlier, training=False)
            paid = asyncio.run(judge_samples(rewarder, pending, concurrency=concurrency, done=done))
        if not paid:
            raise over_budget(experiment, ledger, "only samples without a verdict are judged", earlier=earlier)
    return rewards


def _unusable(experiment: "Experiment", failed: Sequence[Judgement], so_far: int, of: int, ledger: Ledger) -> StepError:
    """The error of a judge, or of rules, that leave too many responses without a reward."""
    reasons = Counter(reason for each in failed for reason in set(each.reasons))
    told = newest_words(ledger)
    what = (
        f"not usable: {len(failed)} of {so_far} samples so far abstain, more than "
        f"{experiment.reward.max_abstain_rate:.0%} of all {of}; reasons: {_listed(reasons)}"
        + (f"; the newest failure: {told}" if told else "")
    )
    if all(each.rules_failed for each in failed):
        return StepError(f"the rules are {what}", where=f"rules; {ledger.path}", remedy=remedy_for(failed))
    return StepError(
        f"the judge is {what}",
        where=f"judge {experiment.verdict_name}; {ledger.path}",
        remedy="see that the judge answers (the step probe-judge tells), then run the same command again; "
        "verdicts that are known are kept",
    )


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Scalar]:
    """Counts and means by model; a mean over nothing is None."""
    summary: dict[str, Scalar] = {}
    for model in sorted({row["model"] for row in rows}):
        mine = [row for row in rows if row["model"] == model]
        summary[f"{model}_samples"] = len(mine)
        summary[f"{model}_abstained"] = sum(row["status"] == "abstained" for row in mine)
        summary[f"{model}_gold"] = _mean([row["gold"] for row in mine])
        summary[f"{model}_judge"] = _mean([row["judge_reward"] for row in mine])
        summary[f"{model}_echo"] = _mean([row["echo"] for row in mine])
    return summary


def _mean(values: Sequence[float | bool | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _listed(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in reasons.most_common()) or "none given"


STEP = Step(
    name="score",
    module="components.score.step",
    depends=depends,
    run=run,
    # The embedded judge runs in a process of its own; another arithmetic there gives other scores.
    extra_modules=("components.judge.server.__main__", "components.bias.scripted.cli"),
    packages=("torch", "transformers", "math-verify", "sympy"),
    needs={"training": ("*.parquet",)},
)
