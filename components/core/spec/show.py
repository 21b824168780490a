"""Prints a resolved experiment."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from components.core.spec.experiment import Experiment
from components.core.spec.load import load_experiment
from components.core.spec.yaml_core import CoreDumper


def show(experiment: str | Path, overrides: Sequence[str] = (), configs: Path | None = None) -> str:
    """The resolved experiment as YAML that ``load_experiment`` reads back, under a comment with its hash.

    Raises:
        ConfigError: as ``load_experiment``.
    """
    return as_yaml(load_experiment(experiment, overrides, configs))


def as_yaml(experiment: Experiment) -> str:
    """YAML of an experiment, in the order of the fields, with its digest in the first line."""
    tree = experiment.model_dump(mode="json")
    text = yaml.dump(tree, Dumper=CoreDumper, sort_keys=False, allow_unicode=True, width=110)
    return f"# experiment {experiment.name}, sha256 {experiment.digest()}\n{text}"
