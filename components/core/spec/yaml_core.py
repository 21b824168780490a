"""Scalars by YAML 1.2's core schema, for reading and for writing.

PyYAML follows YAML 1.1, where ``1e-5`` is text, ``010`` is eight, ``on`` is true and ``1:30`` is ninety.
"""

import re

import yaml


class CoreLoader(yaml.SafeLoader):
    """SafeLoader with the core schema's implicit types."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


class CoreDumper(yaml.SafeDumper):
    """SafeDumper that quotes what CoreLoader would not read back as text, and knows no aliases."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def ignore_aliases(self, data: object) -> bool:
        return True


_BREAKS = re.compile("[\x85\u2028\u2029]")


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    """Line breaks beyond ASCII would be folded away in single quotes; in double quotes they are escaped."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if _BREAKS.search(text) else None)


CoreDumper.add_representer(str, _text)


_TYPES: tuple[tuple[str, str, list[str | None]], ...] = (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", "", None]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        list("-+.0123456789"),
    ),
)
for _name, _pattern, _first in _TYPES:
    for _class in (CoreLoader, CoreDumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(_pattern), _first)
