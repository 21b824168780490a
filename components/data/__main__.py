"""``python -m components.data convert verif-to-rubric IN OUT``: rubric rows from VerIF's rows."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import GavelError
from components.data.convert import convert, write_rows
from components.data.files import read_source

LISTED = 10
"""Rows left out that are named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 when it did its work, 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m components.data", description="Work on files of prompts.")
    commands = parser.add_subparsers(dest="command", required=True)
    converting = commands.add_parser("convert", help="bring rows into another form")
    kinds = converting.add_subparsers(dest="kind", required=True)
    kind = kinds.add_parser("verif-to-rubric", help="derive rubrics from VerIF's checkers; functions are never run")
    kind.add_argument(
        "source", metavar="IN", help="rows with checkers and functions: .parquet, .jsonl, or an s3:// URL"
    )
    kind.add_argument("out", metavar="OUT", type=Path, help="rows with rubrics: .parquet or .jsonl")
    kind.add_argument("--name", default="verinstruct", help="data_source of the new rows (default: %(default)s)")
    kind.add_argument(
        "--all-to-judge", action="store_true", help="make criteria of [rule] checkers too, not of [llm] checkers alone"
    )
    given = parser.parse_args(arguments)
    try:
        found = convert(
            read_source(given.source, None), source=given.source, name=given.name, all_to_judge=given.all_to_judge
        )
        write_rows(found.rows, given.out)
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{len(found.rows)} rows with {found.criteria} criteria -> {given.out}")
    if found.left_out:
        more = f" and {len(found.left_out) - LISTED} more" if len(found.left_out) > LISTED else ""
        print(f"left out, no criterion derived: {', '.join(found.left_out[:LISTED])}{more}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
