"""Loads an experiment: reads, composes, overrides, validates; every mistake of one load is in one error."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from components.core.spec import assets
from components.core.spec.base import ALLOW_CONFLICTS, Spec
from components.core.spec.bases import find_experiment, read_experiment
from components.core.spec.checks import conflicts_among
from components.core.spec.cluster import ClusterSpec
from components.core.spec.compose import Composer
from components.core.spec.data import DataSpec
from components.core.spec.experiment import MODELS, OPTIONAL, PARTS, Experiment
from components.core.spec.explain import problems_of
from components.core.spec.files import display
from components.core.spec.overrides import Override, apply, parse_overrides
from components.core.spec.places import Map, Mark
from components.core.spec.problems import config_error, mark_of
from components.core.spec.reward import RewardSpec
from components.core.spec.secret_scan import secrets_in
from components.core.spec.secrets import shown

DEFAULT_CONFIGS = Path(__file__).resolve().parents[3] / "configs"


def load_experiment(source: str | Path, overrides: Sequence[str] = (), configs: Path | None = None) -> Experiment:
    """Load, compose and validate one experiment.

    Args:
        source: a name in ``configs/experiments``, or a path (it has a slash or ends in .yaml).
        overrides: ``key=value`` with dotted keys and YAML values. Whole parts (``policy=tiny``) are set first, then
            single fields in the order given.
        configs: folder with policies/, judges/ and so on; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    composer = Composer(configs or DEFAULT_CONFIGS)
    path = find_experiment(composer, source, "", Mark("command line"))
    parsed, wrong = parse_overrides(overrides)
    composer.problems.extend(wrong)
    tree = read_experiment(composer, path) if path else None
    experiment = None if tree is None else validated(composer, tree, parsed)
    if experiment is None:
        raise config_error(f"experiment {display(path) if path else shown(str(source))}", composer.problems)
    return experiment


def validated(composer: Composer, tree: Map, overrides: Sequence[Override]) -> Experiment | None:
    """The experiment of a tree with overrides laid over it; None where the composer has noted what is wrong."""
    for override in overrides:
        if len(override.key) == 1:
            tree.put(override.key[0], override.value, override.mark)
    composed = composer.experiment(tree)
    for override in overrides:
        head, *rest = override.key
        if rest and head in composed:
            if head == "workflow":
                composer.workflow(composed[head])
            composer.problems.extend(apply(composed[head], override, tuple(rest)))
        elif rest and head in ("name", "seed"):
            composer.complain(".".join(override.key), f"{head} has no keys", override.mark, f"write {head}=...")
        elif rest and head in OPTIONAL and tree.get(head) is None:
            what = f"there is no {head} to change"
            composer.complain(
                ".".join(override.key), what, override.mark, f"add {head}: and its keys to the experiment"
            )
    parts: dict[str, Spec] = {}
    if "panel" in composed:
        composer.members(composed["panel"])
    if "workflow" in composed:
        composer.workflow(composed["workflow"])
    for part, found in composed.items():
        for place, located in _located(part, found):
            assets.locate(composer, place, located)
        checked = part_of(composer, part, (MODELS | OPTIONAL)[part], found)
        if checked is not None:
            parts[part] = checked
    _across(composer, parts, composed)
    _head(composer, tree)
    if composer.problems or not parts.keys() >= set(PARTS):
        return None
    return Experiment.model_validate({"name": tree["name"], "seed": tree.get("seed", 0), **parts})


def _located(part: str, tree: Map) -> list[tuple[str, Map]]:
    """The trees of a part that may name files, with their dotted keys: its own, and those of a panel's members or of
    what executes workflows."""
    if part == "workflow":
        executor = tree.get("executor")
        return [("workflow.executor", executor)] if isinstance(executor, Map) else []
    members = tree.get("members") if part == "panel" else None
    found = enumerate(members) if isinstance(members, list) else ()
    return [
        (part, tree),
        *((f"panel.members.{number}", member) for number, member in found if isinstance(member, Map)),
    ]


def part_of(composer: Composer, part: str, model: type[Spec], tree: Map) -> Spec | None:
    """The part if its fields are right; what is wrong with it, conflicts between its fields included, is noted."""
    secret = dict(secrets_in(tree, (part,)))
    composer.problems.extend(secret.values())
    text = json.dumps(tree)
    try:
        model.model_validate_json(text)
    except ValidationError as error:
        hidden = {problem.key for problem in secret.values()}
        composer.problems.extend(
            problem for problem in problems_of(error, model, tree, (part,)) if problem.key not in hidden
        )
    try:
        return model.model_validate_json(text, context=ALLOW_CONFLICTS)
    except ValidationError:
        return None


def _across(composer: Composer, parts: dict[str, Spec], trees: dict[str, Map]) -> None:
    """Checks that need several parts, or files of this machine."""
    for conflict in conflicts_among(parts, broken=trees.keys() - parts.keys()):
        part, *rest = conflict.key.split(".")
        path = [int(key) if key.isdigit() else key for key in rest]
        composer.complain(conflict.key, conflict.what, mark_of(trees[part], path), conflict.remedy)
    if isinstance(data := parts.get("data"), DataSpec):
        assets.check_data_files(composer, data, trees["data"])
    if isinstance(reward := parts.get("reward"), RewardSpec):
        assets.check_reward_files(composer, reward, trees["reward"])
    if isinstance(cluster := parts.get("cluster"), ClusterSpec) and cluster.placement == "local":
        for part in {"policy", "judge", "panel", "workflow"} & set(parts):
            for place, tree in _located(part, trees[part]):
                assets.check_folder(composer, place, tree)


def _head(composer: Composer, tree: Map) -> None:
    """Validate name and seed, with the parts left out of sight."""
    head = Map({key: tree[key] for key in ("name", "seed") if key in tree}, tree.mark, tree.marks)
    try:
        Experiment.model_validate_json(json.dumps(head))
    except ValidationError as error:
        found = problems_of(error, Experiment, head)
        composer.problems.extend(problem for problem in found if problem.key in ("name", "seed"))
