"""The command line: ``python -m components.reward rubric FILE.jsonl``, and ``verif`` in the same manner."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ContractError, GavelError
from components.reward.rubric_rows import EXAMPLE, VERIF_EXAMPLE, read_rows, reward_of, verif_reward_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one reward a line; 0 when every line had one, else 1 with the reasons on standard error."""
    options = _parser().parse_args(arguments)
    try:
        return _rewards(options)
    except OSError as error:
        print(f"error: {error.strerror or error}\n  where:  {error.filename or options.file}", file=sys.stderr)
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m components.reward", description="Rewards by hand.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_, example, reward in (
        ("rubric", "the rewards of rubrics and verdicts", EXAMPLE, reward_of),
        ("verif", "mean over the rule lines x the judge's verdict on the others", VERIF_EXAMPLE, verif_reward_of),
    ):
        command = commands.add_parser(name, help=help_, epilog=f"A line of the file: {example}")
        command.add_argument("file", help="JSON lines {id, criteria, verdicts}; - reads standard input")
        command.add_argument("--value", choices=("probability", "binary"), default="probability")
        command.add_argument(
            "--min-known-weight",
            type=_share,
            default=0.8,
            help="share of the positive points (verif: of the rule lines too) that must be known",
        )
        command.set_defaults(reward=reward)
    return parser


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most 1")
    return share


def _rewards(options: argparse.Namespace) -> int:
    status = 0
    for found in read_rows(_text(options.file).split("\n"), options.file):
        try:
            if isinstance(found, ContractError):
                raise found
            for key in found.unknown:
                print(f"note: unknown key {key!r} is passed over\n  where:  {found.where}", file=sys.stderr)
            line = options.reward(found, value=options.value, min_known_weight=options.min_known_weight)
        except ContractError as error:
            status = 1
            print(f"error: {error}", file=sys.stderr)
        else:
            print(json.dumps(line))
    return status


def _text(file: str) -> str:
    content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"the file is not UTF-8: {error}", where=file, remedy="save it as UTF-8") from error


if __name__ == "__main__":
    sys.exit(main())
