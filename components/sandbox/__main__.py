"""``python -m components.sandbox``: what untrusted code can do on this machine, found out by trying it."""

import argparse
import asyncio

from components.core.errors import ServiceError
from components.sandbox.isolation import isolation
from components.sandbox.warden import LEVELS


def main() -> int:
    """Print it for each level; 1 where no level shuts out everything that was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", choices=LEVELS, help="this one alone")
    given = parser.parse_args()
    shut = False
    for level in (given.level,) if given.level else LEVELS:
        try:
            found = asyncio.run(isolation(level))
        except ServiceError as error:
            print(f"{level}: not here ({error.where})")
        else:
            print(found)
            shut = shut or not found.possible
    return 0 if shut else 1


if __name__ == "__main__":
    raise SystemExit(main())
