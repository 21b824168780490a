"""Shipped rewards of workflows: weights and ladders as YAML files in ``configs/ladders``."""

from pathlib import Path

from components.core.spec.compose import Composer
from components.core.spec.load import DEFAULT_CONFIGS, part_of
from components.core.spec.places import Mark
from components.core.spec.problems import config_error
from components.core.spec.workflow_reward import WorkflowRewardSpec

FOLDER = DEFAULT_CONFIGS / "ladders"


def load_workflow_reward(source: str | Path) -> WorkflowRewardSpec:
    """Load and validate the reward of workflows.

    Args:
        source: name of a file in ``configs/ladders``, or a path that ends in .yaml.

    Raises:
        ConfigError: there is no such file, or it has mistakes; each with file, line, key, value and remedy.
    """
    composer = Composer(DEFAULT_CONFIGS)
    mark = Mark("command line", folder=Path.cwd())
    tree = composer.named("ladder", str(source), "ladder", mark)
    found = None if tree is None else part_of(composer, "ladder", WorkflowRewardSpec, tree)
    if composer.problems or not isinstance(found, WorkflowRewardSpec):
        raise config_error(f"workflow reward {source}", composer.problems)
    return found
