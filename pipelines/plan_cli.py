"""The command line of plan; what it does lies in :mod:`pipelines.plan`."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(commands: "Subcommands") -> None:
    """Make the command known."""
    plan = commands.add_parser(
        "plan",
        help="print what experiments will ask for: nodes, GPUs, calls, tokens, hours, cost",
        description="Print nodes, GPUs, memory, calls and tokens of judges, hours and cost of experiments that run at "
        "the same time, and refuse (exit status 1) what cannot fit their cluster. Starts nothing and asks nobody.",
    )
    plan.add_argument(
        "arguments",
        nargs="+",
        metavar="EXPERIMENT",
        help="names in configs/experiments or paths of YAML files; key=value changes all of them",
    )
    plan.add_argument(
        "--fill", type=_share, default=0.5, help="lengths of texts as a share of the longest allowed (0.5)"
    )
    plan.add_argument("--again", type=_share, default=0.05, help="share of chat replies asked for once more (0.05)")
    plan.add_argument(
        "--criteria", type=_count, default=None, help="lines a row for the judge, where rows bring their own rubric"
    )


def run(options: argparse.Namespace) -> None:
    """Carry the command out."""
    from components.planning.assumptions import Assumptions
    from pipelines.plan import plan_experiments

    plan_experiments(options.arguments, Assumptions(options.fill, options.again, options.criteria))


def _share(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _count(text: str) -> float:
    value = _number(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a number of criteria")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
