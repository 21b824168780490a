"""The commands about runs on a cluster, for the command line."""

import argparse
import os
import sys

from pipelines.arguments import split_arguments
from pipelines.remote.connect import HOST, NAME_IT, Remote, connect, named_host

_VARIABLES = ("EXPERIMENT", "JUDGE", "SEED", "START_FROM", "CHECKPOINT", "BASE", "STUDY")
_OF_RUN = _VARIABLES[1:6]
"""What changes the run of an experiment."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands' parsers."""
    submit = commands.add_parser(
        "submit",
        help="start an experiment or a study on a cluster, through KFP at $KFP_HOST",
        description="Check the experiment, compile the pipeline for its cluster, upload it unless KFP has it, and "
        "start a run. Credentials: KFP_TOKEN, KFP_TOKEN_FILE or KFP_COOKIES. ALLOW_TAGS=1 takes images that have no "
        "digest.",
    )
    submit.add_argument(
        "arguments",
        nargs="+",
        metavar="KEY=VALUE",
        help="EXPERIMENT= is a name in configs/experiments, or the path of a YAML file (required); JUDGE=, SEED= and "
        "START_FROM= (s3:// URI of a model) become parameters of the run; CHECKPOINT= evaluates that checkpoint "
        "instead of training (BASE=1: the policy before training too); STUDY= is a name in configs/studies or the path "
        "of a YAML file, in place of all of them; dotted keys in lower case change the experiment or the study",
    )
    runs = commands.add_parser("runs", help="list the newest runs on the cluster")
    runs.add_argument("experiment", nargs="?", default="", help="only this experiment's")
    for name, text in (
        ("logs", "what became of each step of a run, and the log of one that failed"),
        ("report", "fetch the report of a run"),
        ("cancel", "end a run; its exit handler gives the judge back"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("run", help="the run's id, its beginning, or its name")
        if name == "logs":
            command.add_argument("--step", default="", help="such as train-grpo: its log, whether it failed or not")


def run_submit(options: argparse.Namespace) -> None:
    """Start a run, and say where it is."""
    from components.core.errors import ConfigError
    from components.planning.pins import loose_models
    from pipelines.remote.asked import namespace_of
    from pipelines.remote.keys import key_notes
    from pipelines.remote.submit import prepare, prepare_study, submit

    given, overrides = split_arguments(options.arguments, _VARIABLES)
    if bool(given.get("EXPERIMENT")) == bool(given.get("STUDY")):
        remedy = "make submit EXPERIMENT=name-or-file KFP_HOST=http://..., or STUDY= in its place"
        both = "an experiment and a study are named" if given.get("STUDY") else "no experiment is named"
        raise ConfigError(both, where="EXPERIMENT", remedy=remedy)
    if given.get("STUDY"):
        extra = [key for key in _OF_RUN if given.get(key)]
        if extra:
            what = f"{' and '.join(extra)} {'is' if len(extra) == 1 else 'are'} of no use to a study"
            raise ConfigError(what, where=extra[0], remedy="its file names judges, seeds and models; see SET=")
        prepared = prepare_study(given["STUDY"], overrides)
    else:
        prepared = prepare(given["EXPERIMENT"], overrides, **{key.lower(): given.get(key, "") for key in _OF_RUN})
    for loose in dict.fromkeys(line for each in prepared.experiments for line in loose_models(each)):
        print(f"note: {loose}", file=sys.stderr)
    kubernetes = prepared.cluster.kubernetes
    remote = connect(kubernetes.namespace if kubernetes else "")
    for note in key_notes(prepared.experiments, namespace_of(remote), trains=not given.get("CHECKPOINT")):
        print(f"note: {note}", file=sys.stderr)
    done = submit(remote, prepared, allow_tags=allow_tags())
    kind = "study" if given.get("STUDY") else "experiment"
    print(f"run {done.run_id}: {kind} {prepared.name}, pipeline {done.version}")
    print(f"page: {done.page}\nnext: make logs RUN={done.run_id[:8]}")


def run_runs(options: argparse.Namespace) -> None:
    """List runs."""
    from pipelines.remote.runs import runs_table

    # Of a file's name, as submit takes it, KFP knows the form with hyphens; no experiment's name has an underscore.
    print(runs_table(connect("gavel"), options.experiment.replace("_", "-")))


def run_logs(options: argparse.Namespace) -> None:
    """Tell of one run."""
    from pipelines.remote.logs import run_logs as logs

    print(logs(_connected(options.run), options.run, options.step))


def run_report(options: argparse.Namespace) -> None:
    """Fetch a report."""
    from pipelines.remote.fetch import fetch_report

    for path in fetch_report(_connected(options.run), options.run):
        print(path)


def run_cancel(options: argparse.Namespace) -> None:
    """End a run."""
    from pipelines.remote.cancel import cancel

    print(cancel(_connected(options.run), options.run))


def _connected(run: str) -> Remote:
    """Connect for a command about one run, once all that it needs is named."""
    from components.core.errors import ConfigError
    from pipelines.remote.runs import NAME_RUN

    missing = [] if run.strip() else [("run", "RUN", NAME_RUN)]
    if not named_host():
        missing.append(("KFP", HOST, NAME_IT))
    if missing:
        whats, wheres, remedies = zip(*missing, strict=True)
        what = f"no {' and no '.join(whats)} is named"
        raise ConfigError(what, where=", ".join(wheres), remedy="\n    ".join(remedies))
    return connect("gavel")


def allow_tags() -> bool:
    """Whether images without digests will do."""
    return os.environ.get("ALLOW_TAGS", "") not in ("", "0")


COMMANDS = {"submit": run_submit, "runs": run_runs, "logs": run_logs, "report": run_report, "cancel": run_cancel}
