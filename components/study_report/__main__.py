"""Command line: the report of a study that is there."""

import argparse
import sys
from pathlib import Path

from components.bias.study_result import read_study
from components.core.errors import GavelError
from components.study_report.write import PAGE, write_report


def main(arguments: list[str] | None = None) -> int:
    """Write the report and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m components.study_report", description=__doc__)
    parser.add_argument("study", type=Path, help="a study.json")
    parser.add_argument("folder", type=Path, help="where the report goes")
    given = parser.parse_args(arguments)
    try:
        write_report(read_study(given.study), given.folder)
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: the report cannot be written: {error.strerror}\n  where:  {error.filename}", file=sys.stderr)
        return 1
    print(given.folder / PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
