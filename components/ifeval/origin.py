"""What results are of: written into summary.json, so that another model's are not replaced unnoticed."""

import json
from collections.abc import Mapping
from pathlib import Path

from components.core.errors import ConfigError

ORIGIN = "origin"
"""Key in summary.json."""
_LISTED = 4


def refuse_other(output: Path, origin: Mapping[str, object]) -> None:
    """Refuse a folder that holds the results of something else.

    Args:
        output: where results go.
        origin: what the new ones are of.

    Raises:
        ConfigError: its summary.json is of another model, other prompts or other settings, or does not say of what.
    """
    path = output / "summary.json"
    if not path.exists():
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))[ORIGIN]
        other = [
            f"{key} {before.get(key)!r}, now {origin.get(key)!r}"
            for key in dict.fromkeys((*before, *origin))
            if before.get(key) != origin.get(key)
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        other = ["they do not say of what they are"]
    if other:
        more = f"; and {len(other) - _LISTED} more" if len(other) > _LISTED else ""
        raise ConfigError(
            f"there are results of something else already: {'; '.join(other[:_LISTED])}{more}",
            where=str(path),
            remedy="give another OUTPUT (--output), or remove this folder",
        )


def first_prompts(prompts: Path, limit: int, work: Path) -> Path:
    """A file with the first ``limit`` prompts alone."""
    lines = [line for line in prompts.read_bytes().split(b"\n") if line.strip()]
    work.mkdir(parents=True, exist_ok=True)
    path = work / f"prompts-{limit}.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines[:limit]))
    return path
