"""Shipped rewards of workflows: weights and ladders as YAML files beside this one."""

from pathlib import Path

from components.core.errors import ConfigError
from components.core.spec.compose import Composer
from components.core.spec.load import part_of
from components.core.spec.problems import config_error
from components.core.spec.workflow_reward import WorkflowRewardSpec

FOLDER = Path(__file__).parent


def load_workflow_reward(source: str | Path) -> WorkflowRewardSpec:
    """Load and validate the reward of workflows.

    Args:
        source: name of a file in this folder, or a path that ends in .yaml.

    Raises:
        ConfigError: there is no such file, or it has mistakes; each with file, line, key, value and remedy.
    """
    path = Path(source) if str(source).endswith((".yaml", ".yml")) else FOLDER / f"{source}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in FOLDER.glob("*.yaml")))
        raise ConfigError(f"there is no workflow reward {source}", remedy=f"write one of {known}, or a .yaml path")
    composer = Composer(path.parent)
    tree = composer.file(path)
    found = None if tree is None else part_of(composer, "workflow_reward", WorkflowRewardSpec, tree)
    if composer.problems or not isinstance(found, WorkflowRewardSpec):
        raise config_error(f"workflow reward {source}", composer.problems)
    return found
