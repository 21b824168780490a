"""The command workflow: trains a policy to write workflows, and tests it."""

import argparse
from typing import TYPE_CHECKING, Final

from components.core.errors import ConfigError
from pipelines.arguments import split_arguments
from pipelines.mixed_cli import end_with_make, is_on, with_policy

if TYPE_CHECKING:
    from components.core.spec import Experiment

    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]

EXPERIMENTS: Final = {"qwen2.5-7b": "workflow_rl", "smollm2-135m": "workflow_small", "tiny": "tiny_workflow"}
"""Policy -> the experiment that trains it to write workflows."""
_USUAL: Final = "workflow_small"
_GIVEN: Final = ("MODEL", "EXPERIMENT", "SKIP_DATA")


def add_parser(commands: "Subcommands") -> None:
    """Make the command known."""
    workflow = commands.add_parser(
        "workflow",
        help="train a policy to write workflows, and test it beside baselines",
        description="Prepare the mixture, bring the executor model up, train, merge, answer and execute the test sets "
        "beside the baselines, and report, on this machine. Finished steps are not repeated.",
    )
    workflow.add_argument(
        "arguments",
        nargs="+",
        metavar="KEY=VALUE",
        help=f"MODEL= is a policy with an experiment of its own ({', '.join(EXPERIMENTS)}), another name in "
        "configs/policies, a folder in Hugging Face layout or a repository of the hub; EXPERIMENT= is a name in "
        "configs/experiments or the path of a YAML file, in place of the model's own; SKIP_DATA=1 refuses to prepare "
        "data; dotted keys in lower case change the experiment",
    )


def run_workflow(options: argparse.Namespace) -> None:
    """Train and test."""
    from pipelines.local import run_locally

    end_with_make()
    given, overrides = split_arguments(options.arguments, _GIVEN)
    experiment = workflow_experiment(given, overrides)
    if experiment.cluster.placement != "local":
        named = given.get("EXPERIMENT") or EXPERIMENTS.get(given.get("MODEL", ""), _USUAL)
        raise ConfigError(
            f"experiment {experiment.name} runs on cluster {experiment.cluster.name}",
            where="cluster.placement",
            remedy=f"make submit EXPERIMENT={named} KFP_HOST=..., or on GPUs of this machine: "
            'SET="cluster=local-gpu workflow.executor=..."',
        )
    print(f"report: {run_locally(experiment, skip_data=is_on(given, 'SKIP_DATA'))}")


def workflow_experiment(given: dict[str, str], overrides: list[str]) -> "Experiment":
    """The experiment of a model, or the one that is named, with that model as its policy.

    Raises:
        ConfigError: it has mistakes or no part workflow, or there is neither a model nor an experiment.
    """
    from components.core.spec import load_experiment

    model, named = given.get("MODEL", ""), given.get("EXPERIMENT", "")
    if not model and not named:
        raise ConfigError("no model is named", where="MODEL", remedy=f"make workflow MODEL={'|'.join(EXPERIMENTS)}")
    if model and (named or model not in EXPERIMENTS):
        experiment = with_policy(named or _USUAL, model, overrides)
    else:
        experiment = load_experiment(named or EXPERIMENTS.get(model, _USUAL), overrides)
    if experiment.workflow is None:
        raise ConfigError(
            f"experiment {experiment.name} has no part workflow",
            where="workflow",
            remedy=f"name one that has, such as {_USUAL}; make mixed trains a policy that answers by itself",
        )
    return experiment


COMMANDS = {"workflow": run_workflow}
