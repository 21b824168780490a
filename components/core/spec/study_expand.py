"""From a study's matrix to what each arm changes in the experiment that all arms share."""

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any, Final

from components.core.spec.overrides import Override
from components.core.spec.places import Map, Mark, Seq
from components.core.spec.study import StudySpec

_IN_TRAINING: Final = {"pause_minutes": 10.0}
"""Keys of a reward that only an arm with a judge in training has, and the values that say nothing."""


@dataclasses.dataclass(frozen=True, slots=True)
class Variant:
    """One place of the matrix.

    Attributes:
        overrides: what is laid over the shared experiment, with the places where it is written.
        control: see :class:`components.core.spec.arm.ArmKey`.
        judge: position among the study's judges.
        mark: where the judge is written, for messages.
    """

    overrides: list[Override]
    control: str | None
    judge: int
    mark: Mark


def variants(spec: StudySpec, tree: Map) -> Iterator[Variant]:
    """Every arm of the study: judges x rewards x failures x policies x seeds, and then the controls x policies x seeds.

    Args:
        spec: the study.
        tree: the same as it is written, which knows where things stand.
    """
    judges = tree["judges"]
    for number, judge in enumerate(spec.judges):
        written = judges[number]
        for place in range(len(judge.rewards)):
            for failures in judge.failures:
                zero = "zero_as_control" if failures == "zero_as_control" else None
                reward = _reward(written["rewards"][place], written["rewards"].marks[place], zero)
                for rest in _policies_and_seeds(spec, tree):
                    parts = [*_judge(written), reward, _no_canaries(tree), *rest]
                    yield Variant(parts, zero, number, judges.marks[number])
    first = judges[0]
    asked = tree.marks.get("controls", tree.mark)
    for control in spec.controls:
        reward = _control(first["rewards"][0], first["rewards"].marks[0], control, asked)
        for rest in _policies_and_seeds(spec, tree):
            parts = [*_judge(first), reward, _no_canaries(tree), *rest]
            yield Variant(parts, control, 0, judges.marks[0])


def _judge(written: Map) -> list[Override]:
    found = [Override(("judge",), written["judge"], written.marks["judge"])]
    if written.get("panel") is not None:
        found.append(Override(("panel",), written["panel"], written.marks["panel"]))
    return found


def _policies_and_seeds(spec: StudySpec, tree: Map) -> Iterator[list[Override]]:
    policies = tree.get("policies") or Seq([], [])
    seeds = tree.marks.get("seeds", tree.mark)
    choices = [[Override(("policy",), value, policies.marks[place])] for place, value in enumerate(policies)] or [[]]
    for policy in choices:
        for seed in spec.seeds:
            yield [*policy, Override(("seed",), seed, seeds)]


def _no_canaries(tree: Map) -> Override:
    """The study says which arms have some; the shared experiment does not."""
    return Override(("training", "canaries"), None, tree.mark)


def _reward(value: object, mark: Mark, control: str | None) -> Override:
    if control is None:
        return Override(("reward",), value, mark)
    return Override(("reward",), _changed(value, mark, {"failures": control, **_IN_TRAINING}, mark), mark)


def _control(value: object, mark: Mark, control: str, asked: Mark) -> Override:
    """The reward of a control arm: combined otherwise, while held-out responses are judged as the first arm's are.

    Args:
        value: the reward of the first arm.
        mark: where that is written.
        control: which.
        asked: where the control is asked for.
    """
    keys = {"name": control.replace("_", "-"), "combine": control, **_IN_TRAINING}
    return Override(("reward",), _changed(value, mark, keys, asked), mark)


def _changed(value: object, mark: Mark, keys: dict[str, Any], why: Mark) -> Map:
    """A reward, given as a name or a mapping and written at ``mark``, with these keys set, because of what stands at
    ``why``."""
    reward = copy.deepcopy(value) if isinstance(value, Map) else Map({"use": value}, mark, {"use": mark})
    for key, item in keys.items():
        reward.put(key, item, why)
    return reward
