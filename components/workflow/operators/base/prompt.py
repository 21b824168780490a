"""Prompts in text files, with fields in braces."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from components.core.errors import ConfigError

_FIELD: Final = re.compile(r"\{([a-z_]+)\}")


class Prompt:
    """One prompt.

    Args:
        text: with ``{field}`` wherever a value comes; other braces stand for themselves.

    Attributes:
        fields: names of the fields.
        digest: sha256 of the text, in hex.
    """

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self.fields = frozenset(_FIELD.findall(self._text))
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    def __call__(self, values: Mapping[str, str]) -> str:
        """The prompt with its values, put in as they are and only once: a brace in a value is no field."""
        return _FIELD.sub(lambda match: values[match[1]], self._text).strip()


def load(path: Path) -> Prompt:
    """Read a prompt.

    Raises:
        ConfigError: there is no such file.
    """
    try:
        return Prompt(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"the operator {path.stem} has no prompt",
            where=str(path),
            remedy="write it into that file, beside the operator's module",
        ) from error
