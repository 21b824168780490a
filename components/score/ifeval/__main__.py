"""``python -m components.score.ifeval``: IFEval accuracies of a file of responses."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import GavelError
from components.score.ifeval.output import table, write
from components.score.ifeval.score import score_files


def main(arguments: Sequence[str] | None = None) -> int:
    """Score, write, print; the exit status is 1 when something is wrong with the files."""
    parser = argparse.ArgumentParser(prog="python -m components.score.ifeval", description=__doc__)
    parser.add_argument("--prompts", type=Path, required=True, help="IFEval's input_data.jsonl, or rows of that form")
    parser.add_argument(
        "--responses",
        type=Path,
        required=True,
        help='JSONL with {"prompt" or "key", "response"}; a list of texts in response for several samples',
    )
    parser.add_argument("--output", type=Path, required=True, help="folder for the results; made when missing")
    parser.add_argument("--corrected", action="store_true", help="mend four rows of the official data; not comparable")
    parser.add_argument("--allow-missing", action="store_true", help="count prompts without a response as not answered")
    options = parser.parse_args(arguments)
    try:
        scored, summary = score_files(
            options.prompts, options.responses, corrected=options.corrected, allow_missing=options.allow_missing
        )
        write(options.output, scored, summary)
    except GavelError as error:
        print(f"ifeval: {error}", file=sys.stderr)
        return 1
    print(table(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
