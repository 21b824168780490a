"""What of ``configs/`` a compiled pipeline must be ready for."""

import functools
from pathlib import Path
from typing import TypeVar

from components.core.errors import GavelError
from components.core.spec import assets, load_experiment
from components.core.spec.base import Spec
from components.core.spec.cluster import ClusterSpec
from components.core.spec.compose import Composer
from components.core.spec.load import DEFAULT_CONFIGS, part_of
from components.core.spec.places import Mark
from components.core.spec.policy import PolicySpec
from components.core.spec.problems import config_error
from components.core.spec.single import load_judge
from pipelines.on_cluster import key_variables

Part = TypeVar("Part", bound=Spec)


def load_cluster(source: str, configs: Path | None = None) -> ClusterSpec:
    """Load and validate one cluster.

    Args:
        source: a name in ``configs/clusters``, or a path that ends in .yaml.
        configs: folder with clusters/; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    return _load("cluster", source, ClusterSpec, configs)


def load_policy(source: str, configs: Path | None = None) -> PolicySpec:
    """Load and validate one policy.

    Args:
        source: a name in ``configs/policies``, or a path that ends in .yaml.
        configs: folder with policies/; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    return _load("policy", source, PolicySpec, configs)


def _load(kind: str, source: str, model: type[Part], configs: Path | None) -> Part:
    composer = Composer(configs or DEFAULT_CONFIGS)
    tree = composer.named(kind, source, kind, Mark("command line", folder=Path.cwd()))
    if tree is not None:
        assets.locate(composer, kind, tree)
    part = None if tree is None else part_of(composer, kind, model, tree)
    if composer.problems or not isinstance(part, model):
        raise config_error(f"{kind} {source}", composer.problems)
    return part


@functools.cache
def judge_keys(configs: Path | None = None) -> frozenset[str]:
    """Names of the variables with API keys of every judge that is shipped, alone or in an experiment: a rerun in the UI
    may name another judge, and the pods of a run have only those keys that were named when it was compiled."""
    folder = configs or DEFAULT_CONFIGS
    found: set[str] = set()
    for path in sorted((folder / "judges").glob("*.yaml")):
        found |= _keys_of_judge(path, configs)
    for path in sorted((folder / "experiments").glob("*.yaml")):
        found |= _keys_of_experiment(path, configs)
    return frozenset(found)


def _keys_of_judge(path: Path, configs: Path | None) -> set[str]:
    try:
        return key_variables([load_judge(str(path), configs=configs)])
    except GavelError:
        # One that cannot be loaded cannot be asked for either.
        return set()


def _keys_of_experiment(path: Path, configs: Path | None) -> set[str]:
    try:
        experiment = load_experiment(path, configs=configs)
        return key_variables([*experiment.judges(), *experiment.served()])
    except GavelError:
        return set()
