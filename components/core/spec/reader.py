"""Reads YAML into values that remember where they stood; duplicate keys, tags and odd keys are errors."""

import dataclasses
from pathlib import Path

import yaml

from components.core.spec.places import Map, Mark, ReadError, Seq
from components.core.spec.yaml_core import CoreLoader

MAX_DEPTH = 40
MAX_NODES = 20_000


def read_text(text: str, mark: Mark, *, lines: bool = True) -> object:
    """Parse one YAML document into Map, Seq and scalars; ``lines``: whether line numbers mean something to the user.

    Raises:
        ReadError: not YAML, duplicate keys, keys that are not text, tags, or too deep or too big.
    """
    try:
        loader = CoreLoader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        where = dataclasses.replace(mark, line=place.line + 1) if place and lines else mark
        detail = ", ".join(part for part in (error.context, error.problem) if part)
        raise ReadError(f"not valid YAML: {detail}", where, "mind indentation, quotes and brackets there") from error
    except yaml.YAMLError as error:
        raise ReadError(
            f"not valid YAML: {str(error).splitlines()[0]}", mark, "save the file as plain UTF-8"
        ) from error
    except RecursionError as error:
        raise ReadError("nested too deeply", mark, f"use at most {MAX_DEPTH} levels") from error
    return None if node is None else _Builder(mark, lines).build(node, ())


def read_file(path: Path, shown: str) -> object:
    """Parse one YAML file; see ``read_text``."""
    mark = Mark(shown, folder=path.resolve().parent)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ReadError(f"not UTF-8 text (byte {error.start})", mark, "save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ReadError(f"cannot be read: {reason}", mark, "give a file that is there and that you may read") from error
    return read_text(text, mark)


def _int(text: str) -> int:
    value = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if abs(value) >= 2**63:
        raise ValueError("beyond 64 bits")
    return value


class _Builder:
    """Turns nodes into values by hand: PyYAML's constructor keeps the last of duplicate keys and drops the places."""

    def __init__(self, mark: Mark, lines: bool) -> None:
        self.mark = mark
        self.lines = lines
        self.nodes = 0

    def build(self, node: yaml.Node, path: tuple[str, ...]) -> object:
        mark = self._at(node)
        self.nodes += 1
        if len(path) > MAX_DEPTH or self.nodes > MAX_NODES:
            raise ReadError("nested too deeply, or too big through aliases", mark, f"use at most {MAX_DEPTH} levels")
        if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            items = [self.build(item, (*path, str(index))) for index, item in enumerate(node.value)]
            return Seq(items, [self._at(item) for item in node.value])
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        raise ReadError(f"tag {node.tag} is not used here", mark, "remove the tag", ".".join(path))

    def _mapping(self, node: yaml.MappingNode, path: tuple[str, ...]) -> Map:
        result = Map({}, self._at(node))
        for key_node, value_node in node.value:
            where = self._at(key_node)
            key = self.build(key_node, path) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str) or not key:
                shown = getattr(key_node, "value", "") if isinstance(key_node, yaml.ScalarNode) else "a list or mapping"
                raise ReadError(f"key {shown!r} is not text", where, "write a field's name", ".".join(path))
            if key in result:
                first = result.marks[key].line
                raise ReadError(
                    f"key {key!r} stands twice (first on line {first})",
                    where,
                    "keep one of them",
                    ".".join((*path, key)),
                )
            result.put(key, self.build(value_node, (*path, key)), where)
        return result

    def _scalar(self, node: yaml.ScalarNode, path: tuple[str, ...]) -> object:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        text = str(node.value)
        try:
            if kind == "null":
                return None
            if kind == "bool":
                return text.lower() == "true"
            if kind == "int":
                return _int(text)
            if kind == "float":
                return float(text.replace(".", "", 1) if text[-1].isalpha() else text)
        except (ValueError, IndexError) as error:
            shown = text if len(text) <= 40 else f"{text[:40]}..."
            raise ReadError(f"{shown!r} is no {kind}", self._at(node), "write it plainly", ".".join(path)) from error
        if kind != "str":
            raise ReadError(f"tag {node.tag} is not used here", self._at(node), "remove the tag", ".".join(path))
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise ReadError("text with half a surrogate pair", self._at(node), "remove it", ".".join(path))
        return text

    def _at(self, node: yaml.Node) -> Mark:
        return dataclasses.replace(self.mark, line=node.start_mark.line + 1) if self.lines else self.mark
