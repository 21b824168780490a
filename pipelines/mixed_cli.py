"""The commands about mixtures of task sets: mixed trains and tests, mixed-eval tests alone."""

import argparse
import contextlib
import json
import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.core.errors import ConfigError
from pipelines.arguments import split_arguments

if TYPE_CHECKING:
    from components.core.spec import Experiment

    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]

EXPERIMENTS: Final = {
    "qwen2.5-7b": "mixed_qwen25_7b",
    "qwen3-8b": "mixed_qwen3_8b",
    "smollm2-135m": "mixed_small",
    "tiny": "tiny_mixed",
}
"""Policy -> the experiment that trains it on a mixture."""
_USUAL: Final = "mixed_small"
_TRAIN: Final = ("MODEL", "EXPERIMENT", "SKIP_DATA")
_TEST: Final = ("MODEL", "CHECKPOINT", "EXPERIMENT", "BASE", "SKIP_DATA")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][-\w.]*/[A-Za-z0-9][-\w.]*")
_NO_NAME: Final = re.compile(r"[^a-z0-9.]+")


def add_parsers(commands: "Subcommands") -> None:
    """Make the commands known."""
    model = (
        f"MODEL= is a policy with an experiment of its own ({', '.join(EXPERIMENTS)}), another name in "
        "configs/policies, a folder in Hugging Face layout or a repository of the hub"
    )
    train = commands.add_parser(
        "mixed",
        help="train on a mixture of math, questions and code, and score the test sets",
        description="Prepare the mixture, train, merge, answer the test sets and report, on this machine. Finished "
        "steps are not repeated.",
    )
    train.add_argument(
        "arguments",
        nargs="+",
        metavar="KEY=VALUE",
        help=f"{model}; EXPERIMENT= is a name in configs/experiments or the path of a YAML file, in place of the "
        "model's own; SKIP_DATA=1 refuses to prepare data, which must have been prepared before; dotted keys in lower "
        "case change the experiment",
    )
    test = commands.add_parser(
        "mixed-eval",
        help="answer the test sets of a mixture by any model or checkpoint, and score them",
        description="Answer and score the test sets, without any training. Answers that are workflows, where the "
        "experiment has that part, are executed beside the baselines'. Prints tables and writes the figures as JSON.",
    )
    test.add_argument(
        "arguments",
        nargs="+",
        metavar="KEY=VALUE",
        help=f"{model}; CHECKPOINT= is a trainer's checkpoint, a published training or model, in place of MODEL= (then "
        "EXPERIMENT= names the policy); EXPERIMENT= also says which sets; BASE=1 has the policy before training answer "
        "as well; SKIP_DATA=1 as for mixed; dotted keys in lower case change the experiment",
    )


def run_mixed(options: argparse.Namespace) -> None:
    """Train and test."""
    from pipelines.local import run_locally

    end_with_make()
    given, overrides = split_arguments(options.arguments, _TRAIN)
    experiment = mixed_experiment(given, overrides)
    if experiment.cluster.placement != "local":
        named = given.get("EXPERIMENT") or EXPERIMENTS.get(given.get("MODEL", ""), _USUAL)
        raise ConfigError(
            f"experiment {experiment.name} runs on cluster {experiment.cluster.name}",
            where="cluster.placement",
            remedy=f'make submit EXPERIMENT={named} KFP_HOST=..., or on GPUs of this machine: SET="cluster=local-gpu"',
        )
    print(f"report: {run_locally(experiment, skip_data=is_on(given, 'SKIP_DATA'))}")


def run_mixed_eval(options: argparse.Namespace) -> None:
    """Test alone."""
    end_with_make()
    given, overrides = split_arguments(options.arguments, _TEST)
    if bool(given.get("MODEL")) == bool(given.get("CHECKPOINT")):
        raise ConfigError(
            "MODEL and CHECKPOINT are both given" if given.get("MODEL") else "nothing is given that could be tested",
            where="mixed-eval",
            remedy="give one of MODEL= and CHECKPOINT=",
        )
    from pipelines.task_evaluation import evaluate_tasks_locally

    experiment = mixed_experiment(given, overrides)
    if experiment.cluster.placement != "local":
        named = given.get("EXPERIMENT") or EXPERIMENTS.get(given.get("MODEL", ""), _USUAL)
        other = " workflow.executor=..." if experiment.workflow is not None else ""
        raise ConfigError(
            f"experiment {experiment.name} runs on cluster {experiment.cluster.name}",
            where="cluster.placement",
            remedy=f"make submit EXPERIMENT={named} CHECKPOINT=s3://... KFP_HOST=..., or on GPUs of this machine: "
            f'SET="cluster=local-gpu{other}"',
        )
    text, path = evaluate_tasks_locally(
        experiment, given.get("CHECKPOINT", ""), base=is_on(given, "BASE"), skip_data=is_on(given, "SKIP_DATA")
    )
    print(f"\n{text}\n\nfigures: {path}")


def mixed_experiment(given: dict[str, str], overrides: list[str]) -> "Experiment":
    """The experiment of a model, or the one that is named, with that model as its policy.

    Raises:
        ConfigError: it has mistakes, its data are no mixture, or there is neither a model nor an experiment.
    """
    from components.core.spec import load_experiment

    model, named = given.get("MODEL", ""), given.get("EXPERIMENT", "")
    if not model and not named and not given.get("CHECKPOINT"):
        raise ConfigError("no model is named", where="MODEL", remedy=f"make mixed MODEL={'|'.join(EXPERIMENTS)}")
    if model and (named or model not in EXPERIMENTS):
        experiment = with_policy(named or _USUAL, model, overrides)
    else:
        experiment = load_experiment(named or EXPERIMENTS.get(model, _USUAL), overrides)
    if experiment.data.mixture is None:
        raise ConfigError(
            f"experiment {experiment.name} has data of kind {experiment.data.kind}",
            where="data.kind",
            remedy=f"name one whose data are a mixture, such as {_USUAL}",
        )
    return experiment


def with_policy(source: str, model: str, overrides: list[str]) -> "Experiment":
    """An experiment with ``model`` as its policy. Where it has that very policy already, what it says of it (a longer
    context, another system prompt) stays.

    Raises:
        ConfigError: the experiment has mistakes, or ``model`` is none.
    """
    from components.core.spec import load_experiment
    from pipelines.catalogue import load_policy

    changes = policy_overrides(model)
    if changes == [f"policy={model}"]:
        with contextlib.suppress(ConfigError):
            # Mistakes are told below, with the policy that is asked for.
            own, asked = load_experiment(source, overrides), load_policy(model)
            if (own.policy.name, own.policy.source) == (asked.name, asked.source):
                return own
    return load_experiment(source, [*changes, *overrides])


def policy_overrides(model: str) -> list[str]:
    """What makes ``model`` the policy: a name in ``configs/policies``, a folder, or a repository of the hub.

    Raises:
        ConfigError: it is none of these.
    """
    from components.core.spec.load import DEFAULT_CONFIGS

    if (DEFAULT_CONFIGS / "policies" / f"{model}.yaml").is_file() or model.endswith((".yaml", ".yml")):
        return [f"policy={model}"]
    folder = Path(model).expanduser()
    if folder.is_dir():
        source = {"kind": "folder", "path": str(folder.absolute())}
    elif model.startswith(("s3://", "file://")):
        source = {"kind": "uri", "uri": model}
    elif _REPOSITORY.fullmatch(model):
        source = {"kind": "hub", "repo": model}
    else:
        raise ConfigError(
            f"{model!r} is no policy, no folder, no URI and no repository of the hub",
            where="MODEL",
            remedy=f"one of {', '.join(EXPERIMENTS)}; or a folder in Hugging Face layout; or owner/name",
        )
    name = _NO_NAME.sub("-", Path(model).name.lower()).strip("-.")[:40].strip("-.")
    return [f"policy.source={json.dumps(source)}", f"policy.name={json.dumps(name or 'model')}"]


def is_on(given: dict[str, str], name: str) -> bool:
    """Whether a switch of the command is set."""
    return given.get(name, "") not in ("", "0")


def end_with_make() -> None:
    """Whoever kills make means the run."""
    if "MAKELEVEL" in os.environ:
        from components.core.services.process import die_with_parent

        die_with_parent(signal.SIGTERM)


COMMANDS = {"mixed": run_mixed, "mixed-eval": run_mixed_eval}
