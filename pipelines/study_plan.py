"""What a study will do, arm by arm, told before anything is started."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from components.core.columns import aligned
from components.core.spec.study import ENOUGH_ITEMS, ENOUGH_SEEDS
from components.planning.assumptions import Assumptions
from components.planning.plan import RunPlan, make_plan

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.problems import Problem
    from components.core.spec.study_load import Study

_UNKNOWN: Final = "unknown"


def plan_study(study: "Study") -> tuple[list[str], Sequence["Problem"]]:
    """The plan line by line, and why it cannot work on its cluster, if it cannot.

    Args:
        study: with all its arms.
    """
    plan = make_plan([arm.experiment for arm in study.arms], Assumptions(), queued=True)
    lines = [_head(study), "", *_table(study.arms, plan.runs), "", *_scoring(study), "", *_smallest(study), ""]
    return [*lines, *_notes(study)], plan.problems


def _head(study: "Study") -> str:
    arms, controls = len(study.arms), sum(arm.key.control is not None for arm in study.arms)
    cluster = study.arms[0].experiment.cluster
    how = "one at a time" if cluster.placement == "local" else "side by side, as the queue admits them"
    return (
        f"study {study.spec.name} on cluster {cluster.name}: {_count(arms, 'arm')}, {controls} of them controls; {how}"
    )


def _table(arms: Sequence["Arm"], runs: Sequence[RunPlan]) -> Iterable[str]:
    rows = [("arm", "judge", "reward", "policy", "seed", "control", "responses", "judge calls")]
    for arm, run in zip(arms, runs, strict=True):
        training, key = arm.experiment.training, arm.key
        responses = training.steps * training.prompts_per_step * training.rollouts_per_prompt
        calls = [work.expected.calls for work in run.work]
        known = [number for number in calls if number is not None]
        told = f"{round(sum(known)):,}" if len(known) == len(calls) else _UNKNOWN
        control = key.control or ""
        rows.append((arm.name, key.judge, key.reward, key.policy, str(key.seed), control, f"{responses:,}", told))
    return aligned(rows)


def _scoring(study: "Study") -> Iterable[str]:
    spec, scorers = study.spec, study.scorers
    evaluation, data = study.arms[0].experiment.evaluation, study.arms[0].experiment.data
    probes = spec.probes
    yield (
        f"probes: {', '.join(probes.names)}; {_count(probes.items, 'item')} each, "
        f"of {_count(len(scorers), 'judge')} by protocol"
    )
    training = study.arms[0].experiment.training
    looks = (*training.published_steps(), training.steps)
    at = f"{'step' if len(looks) == 1 else 'steps'} {', '.join(map(str, looks))}"
    yield f"drift: each policy answers {data.heldout_rows} prompts before training and at {at}"
    if spec.canaries is not None:
        each = _count(spec.canaries.per_step * training.steps, "response")
        yield f"canaries: {each} without content for the judge of each judged arm, counted in its judge calls"
    if spec.cross:
        responses = len(study.arms) * 2 * data.heldout_rows * evaluation.samples
        others = len(scorers) - 1
        by = f"each by {_count(others, 'more judge')}" if others else "and no further judge to score them"
        yield f"cross-judge: {_count(responses, 'response')} before and after training, {by}"


def _smallest(study: "Study") -> Iterable[str]:
    """The smallest effects of each judge's probes; judges that are asked alike share their lines."""
    from components.bias.least import unasked
    from components.study.detecting import detectables
    from components.study.probe_plan import mounted_of, plan_of
    from components.study.scoring import label

    told: dict[tuple[str, ...], list[str]] = {}
    for scorer in study.scorers:
        for judge in scorer.experiment.judges():
            plan = plan_of(study.spec.probes, judge, scorer.experiment, study.spec.seeds[0])
            lines = [
                f"  {each.probe:<18}{each.mode:<10}{each.n_items:>5} items of {each.n_texts:>3} texts  "
                f"{each.effect:.3f} at a spread of {each.sd}"
                for each in detectables(plan, study.spec.probes.alpha)
            ]
            lines += [f"  {each.probe:<18}{each.mode or '':<10}left out: {each.reason}" for each in plan.skipped]
            calls = f"  {plan.calls:,} items to ask, each in all its forms"
            if not plan.parts:
                calls = "  nothing to ask: no bias of such a judge will be known"
            lines += [f"  {note}" for note in unasked(plan.parts, mounted_of(study.spec.probes))]
            name = label(study, scorer) if scorer.experiment.panel is None else judge.name
            told.setdefault((*lines, calls), []).append(name)
    for shared, names in told.items():
        yield f"smallest effects that are found with 80 % power, judge {', '.join(names)}"
        yield from shared


def _notes(study: "Study") -> Iterable[str]:
    spec = study.spec
    if len(spec.seeds) < ENOUGH_SEEDS:
        yield (
            f"note: with {_count(len(spec.seeds), 'seed')} nothing tells what a judge does from what chance does; "
            f"findings need {ENOUGH_SEEDS} and more"
        )
    if spec.probes.items < ENOUGH_ITEMS:
        yield f"note: {spec.probes.items} items a probe make a quick look; {ENOUGH_ITEMS} resolve small effects"
    if len({arm.key.judge for arm in study.arms if arm.judged}) < ENOUGH_SEEDS:
        yield "note: over fewer than three judges no regression of drift on bias is made"
    for arm in study.arms:
        if arm.key.control == "zero_as_control":
            yield f"note: arm {arm.name} counts failures as 0, which is no way to train; it is a control"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
