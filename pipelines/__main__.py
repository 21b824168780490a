"""The command line: ``python -m pipelines COMMAND``."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import GavelError
from pipelines import data_cli, mixed_cli, plan_cli, study_cli, workflow_cli
from pipelines.arguments import split_arguments
from pipelines.remote import commands as remote

_EXPERIMENT = "a name in configs/experiments, or the path of a YAML file"
_PRINTS = frozenset({"show", "plan", "study-plan", "compile", "schema", "runs", "logs"})
"""Commands whose output is all that they are for, so that nothing is lost when nobody reads on."""
_VARIABLES = ("CHECKPOINT", "EXPERIMENT", "JUDGE", "BASE")
"""Arguments of eval that are no keys of the experiment; the same names as with make."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        _COMMANDS[options.command](options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has enough, as with `make show | head`. Python would complain once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if options.command in _PRINTS else 1
    except OSError as error:
        print(f"error: {error.strerror or error}\n  where:  {error.filename or options.command}", file=sys.stderr)
        return 1
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pipelines", description="Gavel's pipelines.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run an experiment on this machine")
    show = commands.add_parser("show", help="print an experiment with everything resolved, and its hash")
    for command in (run, show):
        command.add_argument("experiment", help=_EXPERIMENT)
        command.add_argument(
            "overrides", nargs="*", default=[], metavar="key=value", help="dotted, as in training.steps=5"
        )
    evaluate = commands.add_parser(
        "eval",
        help="merge a checkpoint, generate on the held-out prompts, score by the judge",
        description="Evaluate one checkpoint: merge it (adapters included), answer the experiment's held-out prompts, "
        "score the answers by its judge, and by IFEval where evaluation.ifeval is given. Prints a table and writes the "
        "figures as JSON.",
    )
    evaluate.add_argument(
        "arguments",
        nargs="+",
        metavar="KEY=VALUE",
        help="CHECKPOINT= names .../global_step_N, .../actor, a published training or model, or a Hugging Face folder, "
        "as a path or a file:// or s3:// URL (required); EXPERIMENT= is " + _EXPERIMENT + " (quickstart); JUDGE= "
        "replaces its judge; BASE=1 has the policy before training answer as well; dotted keys in lower case change "
        "the experiment",
    )
    show.add_argument("--json", action="store_true", help="as one line of JSON, the form that the pipeline takes")
    compiled = commands.add_parser("compile", help="compile the pipelines to YAML")
    compiled.add_argument("folder", type=Path, help="where to write them")
    compiled.add_argument("--cluster", default="h800", help="a name in configs/clusters, or a path (h800)")
    compiled.add_argument(
        "--standalone",
        action="store_true",
        help="for a KFP whose pods run in its own namespace, without Gavel's claims",
    )
    compiled.add_argument("--allow-tags", action="store_true", help="take images by tag where no digest is known")
    schema = commands.add_parser("schema", help="write JSON schemas of the configuration, for editors")
    schema.add_argument("folder", type=Path, help="where to write them")
    remote.add(commands)
    mixed_cli.add_parsers(commands)
    workflow_cli.add_parser(commands)
    plan_cli.add_parser(commands)
    study_cli.add_parsers(commands)
    data_cli.add_parser(commands)
    commands.add_parser("stop", help="end local services that a killed run left behind")
    return parser


def _run(options: argparse.Namespace) -> None:
    from components.core.services.process import die_with_parent
    from components.core.spec import load_experiment
    from pipelines.local import run_locally

    if "MAKELEVEL" in os.environ:
        # Whoever kills make means the run.
        die_with_parent(signal.SIGTERM)
    report = run_locally(load_experiment(options.experiment, options.overrides))
    print(f"report: {report}")


def _eval(options: argparse.Namespace) -> None:
    from components.core.services.process import die_with_parent
    from components.core.spec import load_experiment
    from pipelines.evaluation import evaluate_locally

    if "MAKELEVEL" in os.environ:
        die_with_parent(signal.SIGTERM)
    given, overrides = split_arguments(options.arguments, _VARIABLES)
    if given.get("JUDGE"):
        overrides.insert(0, f"judge={given['JUDGE']}")
    experiment = load_experiment(given.get("EXPERIMENT") or "quickstart", overrides)
    base = given.get("BASE", "") not in ("", "0")
    text, path = evaluate_locally(experiment, given.get("CHECKPOINT", ""), base=base)
    print(f"\n{text}\n\nfigures: {path}")


def _show(options: argparse.Namespace) -> None:
    from components.core.spec import load_experiment
    from components.core.spec.show import as_yaml

    experiment = load_experiment(options.experiment, options.overrides)
    print(experiment.to_json() if options.json else as_yaml(experiment).rstrip())


def _compile(options: argparse.Namespace) -> None:
    from pipelines.catalogue import load_cluster
    from pipelines.compile import compile_pipelines

    allow_tags = options.allow_tags or remote.allow_tags()
    cluster = load_cluster(options.cluster)
    for path in compile_pipelines(options.folder, cluster, allow_tags=allow_tags, claims=not options.standalone):
        print(path)
    pods = cluster.kubernetes
    if pods and pods.model_claim and not options.standalone:
        # Where the claim is not, such pods would wait for it for ever.
        print(
            f"note: steps mount the claim {pods.model_claim}, so they must run in the namespace {pods.namespace}, as "
            "with KFP in multi-user mode; for a standalone KFP, which both overlays are for: STANDALONE=1",
            file=sys.stderr,
        )


def _schema(options: argparse.Namespace) -> None:
    from components.core.spec.schema import export_schemas

    for path in export_schemas(options.folder):
        print(path)


def _stop(options: argparse.Namespace) -> None:
    from components.core.services.state import state_folder
    from components.core.services.supervisor import supervise

    if not state_folder().is_dir():
        return
    with supervise(state_folder()):
        pass


_COMMANDS = {
    "run": _run,
    "eval": _eval,
    "show": _show,
    "plan": plan_cli.run,
    "data": data_cli.run,
    "compile": _compile,
    "schema": _schema,
    "stop": _stop,
    **mixed_cli.COMMANDS,
    **workflow_cli.COMMANDS,
    **study_cli.COMMANDS,
    **remote.COMMANDS,
}

if __name__ == "__main__":
    sys.exit(main())
