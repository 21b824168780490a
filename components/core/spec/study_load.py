"""Loads a study and expands it into arms; every mistake of one load is in one error."""

import copy
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError
from components.core.services.state import with_sources
from components.core.spec.arm import Arm, ArmKey
from components.core.spec.bases import find_experiment, laid_over, read_experiment
from components.core.spec.compose import Composer, without
from components.core.spec.experiment import Experiment
from components.core.spec.fields import suggestion
from components.core.spec.files import display, is_file, names_in, resolve
from components.core.spec.load import DEFAULT_CONFIGS, part_of, validated
from components.core.spec.overrides import Override, apply, parse_overrides
from components.core.spec.places import Map, Mark, ReadError
from components.core.spec.problems import config_error
from components.core.spec.reader import read_text
from components.core.spec.reward import CONTROLS
from components.core.spec.secrets import shown
from components.core.spec.study import StudySpec
from components.core.spec.study_checks import check_arms, check_shared
from components.core.spec.study_expand import Variant, variants

_PART = "study"


@dataclasses.dataclass(frozen=True)
class Study:
    """A study with everything looked up.

    Attributes:
        spec: as it is written.
        arms: all of them, control arms last.
        text: the study as JSON, overrides included, which :func:`load_study` reads back.
        tree: the same with the place of each key, for what is found wrong later.
    """

    spec: StudySpec
    arms: tuple[Arm, ...]
    text: str
    tree: Map = dataclasses.field(repr=False, compare=False)

    @property
    def scorers(self) -> tuple[Arm, ...]:
        """One arm of each judge and protocol, in the study's order; what else it is plays no part."""
        found: dict[tuple[str, str], Arm] = {}
        for arm in self.arms:
            if arm.judged:
                found.setdefault((arm.key.judge, arm.key.reward), arm)
        return tuple(found.values())

    def arm(self, name: str) -> Arm:
        """The arm of a name.

        Raises:
            ConfigError: there is none.
        """
        for arm in self.arms:
            if arm.name == name:
                return arm
        known = ", ".join(arm.name for arm in self.arms)
        raise ConfigError(f"the study has no arm {name!r}", where=f"study {self.spec.name}", remedy=f"known: {known}")


def load_study(source: str | Path, overrides: Sequence[str] = (), configs: Path | None = None) -> Study:
    """Load, expand and validate one study.

    Args:
        source: a name in ``configs/studies``, a path (it has a slash or ends in .yaml), or the study itself as YAML or
            JSON (it begins with a brace or has several lines).
        overrides: ``key=value`` with the study's keys, as in ``probes.items=24`` or ``experiment.training.steps=3``.
        configs: folder with studies/, experiments/, judges/ and so on; by default the repository's.

    Raises:
        ConfigError: one or more mistakes, in the study or in an arm; each with file, line, key, value and remedy.
    """
    composer = Composer(configs or DEFAULT_CONFIGS)
    parsed, wrong = parse_overrides(overrides, tuple(StudySpec.model_fields), inside="experiment")
    composer.problems.extend(wrong)
    tree, told = _tree(composer, source)
    study = None
    if tree is not None:
        _apply(composer, tree, parsed)
        spec = part_of(composer, _PART, StudySpec, tree)
        if isinstance(spec, StudySpec) and not composer.problems:
            study = Study(spec, tuple(_arms(composer, spec, tree)), json.dumps(tree, sort_keys=True), tree)
    if composer.problems or study is None:
        raise config_error(f"study {told}", composer.problems)
    return study


def _tree(composer: Composer, source: str | Path) -> tuple[Map | None, str]:
    """The study as it is written, and what to call it in messages."""
    text = str(source).strip()
    if isinstance(source, str) and (text.startswith("{") or "\n" in text):
        mark = Mark("the study's text", folder=Path.cwd())
        try:
            found = read_text(with_sources(text), mark)
        except ReadError as error:
            composer.complain(error.key, error.what, error.mark, error.remedy)
            return None, mark.file
        if isinstance(found, Map):
            return found, mark.file
        composer.complain("", f"the text holds {shown(found)}, not a mapping", mark, "write key: value lines")
        return None, mark.file
    path = _find(composer, source)
    tree = composer.file(path) if path else None
    if path is not None and tree is not None and "name" not in tree:
        tree.put("name", path.stem.replace("_", "-"), tree.mark)
    return tree, display(path) if path else shown(text)


def _find(composer: Composer, source: str | Path) -> Path | None:
    text, folder, where = str(source), composer.configs / "studies", Mark("command line")
    if isinstance(source, Path) or "/" in text or text.endswith((".yaml", ".yml")):
        path, missing = resolve(text, where), f"there is no file {text}"
    else:
        path, missing = folder / f"{text}.yaml", f"there is no study {text!r} in {display(folder)}"
    if path is not None and is_file(path):
        return path
    composer.complain("", missing, where, f"{suggestion(text, names_in(folder))}; or give the path of a YAML file")
    return None


def _apply(composer: Composer, tree: Map, overrides: Sequence[Override]) -> None:
    for override in overrides:
        name = tree.get("experiment")
        if override.key[0] == "experiment" and len(override.key) > 1 and isinstance(name, str):
            mark = tree.marks["experiment"]
            tree.put("experiment", Map({"use": name}, mark, {"use": mark}), mark)
        composer.problems.extend(apply(tree, override, override.key))


def _base(composer: Composer, tree: Map) -> Map | None:
    """The tree of the experiment that all arms share."""
    given, mark = tree["experiment"], tree.marks["experiment"]
    over = given if isinstance(given, Map) else Map({}, mark)
    if isinstance(given, Map) and "use" not in given:
        return over
    use, where = (given["use"], given.marks["use"]) if isinstance(given, Map) else (given, mark)
    path = find_experiment(composer, use, "study.experiment", where)
    below = None if path is None else read_experiment(composer, path)
    return None if below is None else laid_over(below, without(over, "use"))


def _arms(composer: Composer, spec: StudySpec, tree: Map) -> list[Arm]:
    base = _base(composer, tree)
    if base is None:
        return []
    # One that lacks what the study says of its arms is nothing by itself, and its arms tell.
    shared = validated(Composer(composer.configs), copy.deepcopy(base), [])
    if shared is not None:
        check_shared(composer, tree, shared)
    if composer.problems:
        return []
    found: list[tuple[Variant, Arm]] = []
    for variant in variants(spec, tree):
        experiment = _experiment(composer, base, variant)
        if experiment is not None:
            arm = _named(spec, variant, _watched(_with_canaries(experiment, spec), spec))
            found.append((variant, arm))
    if not composer.problems:
        check_arms(composer, spec, tree, found)
    return [arm for _, arm in found]


def _experiment(composer: Composer, base: Map, variant: Variant) -> Experiment | None:
    """One arm by itself; what is wrong with it is noted once, however many arms have it."""
    own = Composer(composer.configs)
    experiment = validated(own, copy.deepcopy(base), copy.deepcopy(variant.overrides))
    for problem in own.problems:
        what, remedy = problem.what, problem.remedy
        if variant.control in CONTROLS and problem.key == "reward.combine":
            # Nobody wrote this key: it comes from the list of controls, which has a default.
            what, remedy = f"control {variant.control}: {what}", f"leave {variant.control} out of controls; or {remedy}"
        composer.complain(problem.key, what, problem.where, remedy)
    return experiment


def _with_canaries(experiment: Experiment, spec: StudySpec) -> Experiment:
    """With the study's canaries where a judge is asked in training."""
    if not experiment.reward.asks_in_training:
        return experiment
    return experiment.model_copy(
        update={"training": experiment.training.model_copy(update={"canaries": spec.canaries})}
    )


def _watched(experiment: Experiment, spec: StudySpec) -> Experiment:
    """With the checkpoints in the result at which the policy is looked at."""
    if spec.drift is None or spec.drift.every >= experiment.training.steps:
        return experiment
    every = spec.drift.every
    change = {
        "publish_every": every,
        "checkpoint_every": every,
        "keep_checkpoints": -(-experiment.training.steps // every),
    }
    return experiment.model_copy(update={"training": experiment.training.model_copy(update=change)})


def _named(spec: StudySpec, variant: Variant, experiment: Experiment) -> Arm:
    key = ArmKey(
        experiment.verdict_name,
        experiment.reward.name,
        experiment.policy.name,
        experiment.seed,
        variant.control,
    )
    return Arm(key, experiment.model_copy(update={"name": key.name(spec.name)}))
