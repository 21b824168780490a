"""Arms that cannot stand in one table, found before anything starts."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from components.core.identity import digest
from components.core.spec.arm import Arm
from components.core.spec.base import Conflict
from components.core.spec.places import Map
from components.core.spec.problems import mark_of
from components.core.spec.reward import CONTROLS
from components.core.spec.study import StudySpec

if TYPE_CHECKING:
    from components.core.spec.compose import Composer
    from components.core.spec.experiment import Experiment
    from components.core.spec.study_expand import Variant

_OTHER_CRITERIA: Final = ("semantic_equality", "pairwise")
"""Protocols for which a row's criteria are answers, and no demands."""

Arms = Sequence[tuple["Variant", Arm]]


def check_arms(composer: "Composer", spec: StudySpec, tree: Map, arms: Arms) -> None:
    """Note with the composer what makes arms incomparable.

    Args:
        composer: gets the problems.
        spec: the study.
        tree: as it is written.
        arms: each valid by itself, with its place in the matrix.
    """
    for check in _CHECKS:
        _note(composer, tree, check(spec, arms))


def check_shared(composer: "Composer", tree: Map, experiment: "Experiment") -> None:
    """Note with the composer what makes the experiment that all arms share no ground for a study: told before its arms
    are made, of which each would say in its own way that it does not fit.

    Args:
        composer: gets the problems.
        tree: of the study, as it is written.
        experiment: by itself, without what the arms change.
    """
    _note(composer, tree, _unjudged(experiment))


def _note(composer: "Composer", tree: Map, conflicts: Iterable[Conflict]) -> None:
    for conflict in conflicts:
        path = [int(part) if part.isdigit() else part for part in conflict.key.split(".")]
        composer.complain(f"study.{conflict.key}", conflict.what, mark_of(tree, path), conflict.remedy)


def _kinds(spec: StudySpec, arms: Arms) -> Iterable[Conflict]:
    return _unjudged(arms[0][1].experiment)


def _unjudged(experiment: "Experiment") -> Iterable[Conflict]:
    kind = "workflows" if experiment.workflow is not None else experiment.data.kind
    if kind in ("workflows", "mixture"):
        told = "a mixture" if kind == "mixture" else kind
        yield Conflict(
            "experiment",
            f"responses to {told} are scored by their own checks, and no judge can be compared on them",
            "start from an experiment whose held-out responses are judged by a rubric, such as tiny or verinstruct_rl",
        )


def _steps(spec: StudySpec, arms: Arms) -> Iterable[Conflict]:
    steps = arms[0][1].experiment.training.steps
    if spec.drift is not None and spec.drift.every >= steps:
        yield Conflict(
            "drift.every",
            f"{spec.drift.every} leaves no look before the last of {steps} steps",
            f"use at most {max(1, steps - 1)}, or drift: null" if steps > 1 else "train for more steps, or drift: null",
        )


def _rewards(spec: StudySpec, arms: Arms) -> Iterable[Conflict]:
    for variant, arm in arms:
        combine = arm.experiment.reward.combine
        if combine in CONTROLS and variant.control is None:
            yield Conflict(
                f"judges.{variant.judge}.rewards",
                f"{arm.key.reward} asks no judge in training (combine {combine})",
                f"name it under controls: [{combine}]",
            )


def _criteria(spec: StudySpec, arms: Arms) -> Iterable[Conflict]:
    protocols = {arm.experiment.reward.protocol for _, arm in arms}
    answers = sorted(protocols.intersection(_OTHER_CRITERIA))
    if answers and len(protocols) > 1:
        yield Conflict(
            "judges",
            f"to {' and '.join(answers)} a row's criteria are answers, and to "
            f"{', '.join(sorted(protocols - set(answers)) or answers)} something else: one row cannot be both",
            "study them apart, each on data of its own",
        )


def _combined(spec: StudySpec, arms: Arms) -> Iterable[Conflict]:
    """A share of points and a product with rules are two scales."""
    combined = sorted({arm.experiment.reward.combine for _, arm in arms} - CONTROLS)
    if len(combined) > 1:
        yield Conflict(
            "judges",
            f"rewards are combined by {' and by '.join(combined)}, so that their sizes cannot be compared",
            "use rewards with one combine in a study",
        )


def _names(spec: StudySpec, arms: Arms) -> Iterable[Conflict]:
    seen: dict[str, Arm] = {}
    for variant, arm in arms:
        if arm.name in seen:
            yield Conflict(
                f"judges.{variant.judge}",
                f"two arms have judge {arm.key.judge}, reward {arm.key.reward}, policy {arm.key.policy} and seed "
                f"{arm.key.seed}",
                "give the one that differs a name of its own, as in {use: rubric, name: rubric-short, ...}",
            )
        seen[arm.name] = arm


def _policies(spec: StudySpec, arms: Arms) -> Iterable[Conflict]:
    names: dict[str, str] = {}
    for _, arm in arms:
        known = names.setdefault(digest(arm.experiment.policy_identity()), arm.key.policy)
        if known != arm.key.policy:
            yield Conflict("policies", f"{known} and {arm.key.policy} are one and the same model", "name it once")


_CHECKS: Sequence[Callable[[StudySpec, Arms], Iterable[Conflict]]] = (
    _kinds,
    _steps,
    _rewards,
    _criteria,
    _combined,
    _names,
    _policies,
)
