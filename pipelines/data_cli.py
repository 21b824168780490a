"""The command data: prepares an experiment's data on this machine, and nothing else."""

import argparse
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(commands: "Subcommands") -> None:
    """Make the command known."""
    data = commands.add_parser(
        "data",
        help="prepare an experiment's data alone, and say where they lie",
        description="Run the step prepare-data of an experiment on this machine and publish its result to the store, "
        "where runs of the experiment find it. Data that are there are not prepared again.",
    )
    data.add_argument("experiment", help="a name in configs/experiments, or the path of a YAML file")
    data.add_argument("overrides", nargs="*", default=[], metavar="key=value", help="dotted, as in seed=5")


def run(options: argparse.Namespace) -> None:
    """Carry the command out."""
    from components.core.services.process import die_with_parent
    from components.core.spec import load_experiment
    from pipelines.preparing import prepare_locally

    if "MAKELEVEL" in os.environ:
        die_with_parent(signal.SIGTERM)
    prepared = prepare_locally(load_experiment(options.experiment, options.overrides))
    width = max(map(len, prepared.rows), default=0)
    counts = [f"  {name.ljust(width)}  {rows:>9,}" for name, rows in prepared.rows.items()]
    print("\n".join(["rows:", *counts, f"files: {prepared.uri}", *(f"copy:  {path}" for path in prepared.copies)]))
