"""The commands about studies: study runs one, study-plan tells what it will do."""

import argparse
from typing import TYPE_CHECKING

from components.core.errors import ConfigError, StepError
from components.core.spec.problems import config_error
from pipelines.arguments import split_arguments

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]

_VARIABLES = ("STUDY",)
_USUAL = "quick"


def add_parsers(commands: "Subcommands") -> None:
    """Make the commands known."""
    told = "STUDY= is a name in configs/studies or the path of a YAML file (quick); dotted keys in lower case change it"
    plan = commands.add_parser(
        "study-plan",
        help="what a study will do, arm by arm",
        description="Print the arms of a study, what judges are asked and the smallest effects that it can find, and "
        "refuse (exit status 1) what cannot be compared or cannot work. Starts nothing and asks nobody.",
    )
    plan.add_argument("arguments", nargs="*", metavar="KEY=VALUE", help=told)

    run = commands.add_parser(
        "study",
        help="run a bias study on this machine",
        description="Probe the judges, train the arms one at a time, score every policy by every judge and report. "
        "What is there already is not made again; a part that fails does not end the others.",
    )
    run.add_argument("arguments", nargs="*", metavar="KEY=VALUE", help=told)


def run(options: argparse.Namespace) -> None:
    """Run a study.

    Raises:
        ConfigError: the study has mistakes.
        StepError: a part of it failed; the others are done, and the report tells.
    """
    from pipelines.mixed_cli import end_with_make
    from pipelines.study_local import run_study, table
    from pipelines.study_plan import plan_study

    end_with_make()
    study = study_of(options.arguments)
    lines, problems = plan_study(study)
    print("\n".join(lines), flush=True)
    if problems:
        raise config_error("the plan", problems)
    report, done = run_study(study)
    print(f"\n{table(done)}")
    if report is not None:
        print(f"report: {report}")
    failed = sum(bool(line.error) for line in done)
    if failed:
        raise StepError(
            f"{failed} of {len(done)} parts of the study failed",
            where=f"study {study.spec.name}",
            remedy="mend the causes told above and run the same command again: what is done is not repeated",
        )


def run_plan(options: argparse.Namespace) -> None:
    """Print the plan.

    Raises:
        ConfigError: the study has mistakes, or cannot work on its cluster; then the plan is printed before.
    """
    from pipelines.study_plan import plan_study

    lines, problems = plan_study(study_of(options.arguments))
    print("\n".join(lines))
    if problems:
        raise config_error("the plan", problems)


def study_of(arguments: list[str]) -> "Study":
    """The study that the arguments name.

    Raises:
        ConfigError: it has mistakes.
    """
    from components.core.spec.study_load import load_study
    from components.study.checks import check_probes

    given, overrides = split_arguments(arguments, _VARIABLES)
    wrong = [text for text in overrides if "=" not in text]
    if wrong:
        raise ConfigError(
            f"{wrong[0]!r} is not KEY=VALUE",
            where="command line",
            remedy="name the study as STUDY=quick, and what is to change as probes.items=60; with make as SET=",
        )
    study = load_study(given.get("STUDY") or _USUAL, overrides)
    check_probes(study)
    return study


COMMANDS = {"study": run, "study-plan": run_plan}
