"""The prompts: rows of the official file, or of one's own in its format."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError, ContractError
from components.core.faults import tell
from components.score.ifeval.checks.base import Check
from components.score.ifeval.corrections import Corrections
from components.score.ifeval.lines import read_objects
from components.score.ifeval.registry import build_check

Key = int | str

REMEDY = "a row is an object with key, prompt, instruction_id_list and, in the same order, kwargs"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its instructions."""

    key: Key
    text: str
    kinds: tuple[str, ...]
    checks: tuple[Check, ...]


def read_prompts(path: Path, corrections: Corrections | None = None) -> list[Prompt]:
    """The prompts of a JSONL file, in its order; a correction can leave one without instructions.

    Raises:
        ConfigError: there is no such file.
        ContractError: a row is not what it should be, an instruction is unknown or lacks an argument, a key or a
            prompt stands there twice, or a correction does not fit.
    """
    prompts: list[Prompt] = []
    keys: set[Key] = set()
    texts: set[str] = set()
    faults: list[ContractError] = []
    rows = read_jsonl(path)
    for where, row in rows:
        try:
            prompt = _prompt(row, where, corrections)
            if prompt.key in keys or prompt.text in texts:
                raise ContractError(
                    "its key or its prompt stands in an earlier row already",
                    where=f"{where}, key {prompt.key}",
                    remedy="responses are joined by these; keep one of the two rows",
                )
        except ContractError as error:
            faults.append(error)
            continue
        keys.add(prompt.key)
        texts.add(prompt.text)
        prompts.append(prompt)
    tell(faults, of=len(rows), source=str(path))
    if not prompts:
        raise ContractError("there is no prompt", where=str(path), remedy=REMEDY)
    return prompts


def read_jsonl(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """The objects of a file, each with its place; blank lines are passed over.

    Raises:
        ConfigError: there is no such file.
        ContractError: a line cannot be read.
    """
    if not path.is_file():
        raise ConfigError("there is no such file", where=str(path), remedy="a file with a JSON object a line")
    return read_objects(path.read_bytes(), source=str(path))


def _prompt(row: Mapping[str, Any], where: str, corrections: Corrections | None) -> Prompt:
    key, text = row.get("key"), row.get("prompt")
    if not isinstance(key, Key) or isinstance(key, bool):
        raise ContractError(f"key cannot be {key!r}", where=where, remedy=REMEDY)
    where = f"{where}, key {key}"
    if not isinstance(text, str) or not text.strip():
        raise ContractError(f"prompt cannot be {text!r}", where=where, remedy=REMEDY)
    kinds, kwargs = row.get("instruction_id_list"), row.get("kwargs")
    if not isinstance(kinds, list) or not kinds or not all(isinstance(kind, str) for kind in kinds):
        raise ContractError(f"instruction_id_list cannot be {kinds!r}", where=where, remedy=REMEDY)
    if not isinstance(kwargs, list) or not all(isinstance(given, dict) for given in kwargs):
        raise ContractError("kwargs is not a list of objects", where=where, remedy=REMEDY)
    if len(kwargs) != len(kinds):
        raise ContractError(f"{len(kinds)} instructions, but {len(kwargs)} kwargs", where=where, remedy=REMEDY)
    pairs = list(zip(kinds, kwargs, strict=True))
    if corrections is not None:
        pairs = corrections.apply(key, pairs, where)
    checks = tuple(build_check(kind, given, where) for kind, given in pairs)
    return Prompt(key, text, tuple(kind for kind, _ in pairs), checks)
