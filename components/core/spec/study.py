"""The bias study: which judges train which policies, what they are probed for, and how the policies are watched."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from components.core.spec.base import Conflict, Count, Label, Seed, Spec, Text
from components.core.spec.canaries import CanarySpec

Control = Literal["rule_only", "random", "length", "format"]
Failures = Literal["masked", "zero_as_control"]
ProbeMode = Literal["pairwise", "pointwise", "binary"]

ENOUGH_SEEDS: Final = 3
"""From so many on, findings can tell what a judge does from what a seed does."""

WHOLE: Final = frozenset({"policy", "judge", "reward", "data", "training"})
"""Keys that an experiment has which starts from no other one."""

ENOUGH_ITEMS: Final = 200
"""Items a probe from which on a paired effect of some four points is resolved; fewer make a quick study."""


class StudyJudge(Spec):
    """One judge, and the ways in which it is asked: an arm of training for each."""

    judge: JsonValue
    """A name in configs/judges, or a mapping as in an experiment. Unit: none. Required."""
    rewards: Annotated[tuple[JsonValue, ...], Field(min_length=1)]
    """Protocols: names in configs/rewards, or mappings. Unit: none. Required."""
    panel: JsonValue = None
    """Further judges that decide together with this one, as in an experiment; each is probed by itself. Unit: none.
    Default: null."""
    failures: Annotated[tuple[Failures, ...], Field(min_length=1)] = ("masked",)
    """What training makes of failures, an arm for each: masked, or zero_as_control, which counts them as 0 and is a
    control arm. Unit: none. Default: ["masked"]."""

    def conflicts(self) -> Iterable[Conflict]:
        yield from part_conflicts("judge", self.judge, "configs/judges")
        for number, reward in enumerate(self.rewards):
            yield from part_conflicts(f"rewards.{number}", reward, "configs/rewards")
        yield from _twice("failures", self.failures)
        if "zero_as_control" in self.failures and "masked" not in self.failures:
            yield Conflict(
                "failures",
                "zero_as_control stands alone: what it does shows in the difference from masked",
                'use ["masked", "zero_as_control"]',
            )


class StudyProbes(Spec):
    """What every judge is probed for before it trains anybody."""

    names: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Probes, as `python -m components.bias list` names them. Unit: none. Required."""
    modes: Annotated[tuple[ProbeMode, ...], Field(min_length=1)] = ("pairwise", "pointwise", "binary")
    """Ways of asking; a judge is asked in those that its protocol can be asked in. Unit: none.
    Default: ["pairwise", "pointwise", "binary"]."""
    items: Annotated[int, Field(ge=10, le=100_000)] = ENOUGH_ITEMS
    """Items of each probe. Unit: items. Default: 200."""
    criteria: Annotated[int, Field(ge=2, le=100)] | None = None
    """Criteria of each shipped text that judges are asked about, at most: one that its worse answer fails, one that it
    meets, and the first others. Fewer cost less and see less; null asks about all. Unit: criteria. Default: null."""
    repeats: Annotated[int, Field(ge=0, le=100)] = 0
    """Repetitions of each item beyond the first asking, in probes that live on them; there at least two. Unit: askings.
    Default: 0."""
    mounted: Text | None = None
    """A folder with items of others (LLMBar, JudgeBench, MT-Bench, model-written ones); a relative path starts at the
    current folder. Unit: none. Default: null."""
    alpha: Annotated[float, Field(ge=1e-6, lt=0.5)] = 0.05
    """Error rate of what is flagged, over all probes of a judge. Unit: fraction. Default: 0.05."""

    def conflicts(self) -> Iterable[Conflict]:
        yield from _twice("names", self.names)
        yield from _twice("modes", self.modes)


class StudyDrift(Spec):
    """How policies are watched while they train: every so many steps each answers the held-out prompts."""

    every: Count = 1
    """Steps between two looks; the last step is always one. Unit: steps. Default: 1."""


class StudySpec(Spec):
    """A study: judges x protocols x policies x seeds, with control arms, over one experiment that all arms share."""

    name: Label
    """Begins the names of the arms: lower-case letters, digits and hyphens; the file's name where the file gives none.
    Unit: none. Required."""
    experiment: JsonValue
    """What all arms have in common: a name in configs/experiments, a mapping with `use` and what it changes, or a whole
    experiment. Unit: none. Required."""
    judges: Annotated[tuple[StudyJudge, ...], Field(min_length=1)]
    """Judges that train policies. The first one, by its first protocol, also scores the control arms. Unit: none.
    Required."""
    policies: tuple[JsonValue, ...] = ()
    """Policies that are trained: names in configs/policies, or mappings; none takes the experiment's. Unit: none.
    Default: []."""
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)] = (1, 2, 3)
    """Seeds of every arm, at least three for findings about seeds. Unit: none. Default: [1, 2, 3]."""
    controls: tuple[Control, ...] = ("rule_only", "random", "length", "format")
    """Arms that ask no judge in training. Unit: none. Default: ["rule_only", "random", "length", "format"]."""
    probes: StudyProbes
    """What judges are probed for. Unit: none. Required."""
    drift: StudyDrift | None = StudyDrift()
    """How policies are watched; null looks at the last step alone. Unit: none.
    Default: {"every": 1}."""
    canaries: CanarySpec | None = CanarySpec()
    """Responses without content that the judge of every judged arm is shown in each training step; null shows none.
    What `experiment` says of training.canaries does not count. Unit: none.
    Default: {"per_step": 2, "alarm_above": null}."""
    cross: bool = True
    """Whether every policy is scored by every judge of the study. Unit: none. Default: true."""

    def conflicts(self) -> Iterable[Conflict]:
        if not isinstance(self.experiment, dict):
            yield from part_conflicts("experiment", self.experiment, "configs/experiments")
        elif not isinstance(self.experiment.get("use"), str) and not set(self.experiment) >= WHOLE:
            yield Conflict("experiment", "it names no experiment to start from", "add use: and a name")
        for number, policy in enumerate(self.policies):
            yield from part_conflicts(f"policies.{number}", policy, "configs/policies")
        yield from _twice("seeds", self.seeds)
        yield from _twice("controls", self.controls)


def part_conflicts(key: str, value: JsonValue, folder: str) -> Iterable[Conflict]:
    """What is wrong with a value that should be a name or a mapping."""
    if not isinstance(value, dict) and not (isinstance(value, str) and value.strip()):
        yield Conflict(key, f"{value!r} is neither a name nor a mapping", f"write a name from {folder}, or a mapping")


def _twice(key: str, values: tuple[object, ...]) -> Iterable[Conflict]:
    repeated = sorted({str(value) for value in values if values.count(value) > 1})
    if repeated:
        yield Conflict(key, f"{', '.join(repeated)} stands there more than once", "name each once")
