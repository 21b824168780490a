"""What of ``configs/`` a compiled pipeline must be ready for."""

import functools
from pathlib import Path

from components.core.errors import GavelError
from components.core.spec import load_experiment
from components.core.spec.cluster import ClusterSpec
from components.core.spec.load import DEFAULT_CONFIGS
from components.core.spec.policy import PolicySpec
from components.core.spec.single import load_judge, load_one
from pipelines.on_cluster import key_variables


def load_cluster(source: str, configs: Path | None = None) -> ClusterSpec:
    """Load and validate one cluster.

    Args:
        source: a name in ``configs/clusters``, or a path that ends in .yaml.
        configs: folder with clusters/; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    return load_one("cluster", source, ClusterSpec, configs)


def load_policy(source: str, configs: Path | None = None) -> PolicySpec:
    """Load and validate one policy.

    Args:
        source: a name in ``configs/policies``, or a path that ends in .yaml.
        configs: folder with policies/; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    return load_one("policy", source, PolicySpec, configs)


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
