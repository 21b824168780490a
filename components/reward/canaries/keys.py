"""The master keys: responses without content that judges were found to accept (arXiv 2507.08794)."""

import functools
import json
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("master_keys.txt")


@functools.cache
def master_keys() -> tuple[str, ...]:
    """All keys, in the order of the file, the blank one included."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line) for line in lines if line and not line.startswith("#"))


def keys_of_step(step: int, count: int) -> tuple[str, ...]:
    """The canaries of a step; step after step goes on in the list, so that each key has its turn.

    The blank key is none of them: the judge engine asks nobody about a response without text.

    Args:
        step: of the trainer.
        count: canaries a step.
    """
    keys = [key for key in master_keys() if key.strip()]
    return tuple(keys[(step * count + place) % len(keys)] for place in range(count))
