"""From an experiment's file to one tree: names become the files they mean, overrides are laid over."""

from pathlib import Path

from components.core.spec.experiment import PARTS
from components.core.spec.fields import suggestion
from components.core.spec.places import Map, Mark, ReadError
from components.core.spec.problems import Problem
from components.core.spec.reader import read_file
from components.core.spec.secrets import shown

FOLDERS = {"policy": "policies", "judge": "judges", "reward": "rewards", "data": "datasets", "cluster": "clusters"}
"""Parts that can be named, and the folder below ``configs`` that holds them."""

REPLACED = ("source", "store")
"""Mappings with a ``kind``: another kind replaces the whole, since the fields of the former make no sense in it."""


class Composer:
    """Reads files below one ``configs`` folder and collects problems instead of stopping at the first."""

    def __init__(self, configs: Path) -> None:
        self.configs = configs
        self.problems: list[Problem] = []

    def complain(self, key: str, what: str, where: Mark, remedy: str) -> None:
        self.problems.append(Problem(key, what, where, remedy))

    def file(self, path: Path, key: str = "") -> Map | None:
        """A file's mapping; None, with a problem noted, when it is none."""
        name = display(path)
        try:
            tree = read_file(path, name)
        except ReadError as error:
            self.complain(error.key or key, error.what, error.mark, error.remedy)
            return None
        if not isinstance(tree, Map):
            what = "the file is empty" if tree is None else f"the file holds {shown(tree)}, not a mapping"
            self.complain(key, what, Mark(name), "write key: value lines")
            return None
        return tree

    def named(self, folder: str, name: str, key: str, where: Mark) -> Map | None:
        """The mapping in ``configs/<folder>/<name>.yaml``; one ending in .yaml is a path, from the file using it."""
        if name.endswith((".yaml", ".yml")):
            path = (where.folder or Path.cwd()) / Path(name).expanduser()
            if not path.is_file():
                self.complain(key, f"there is no file {display(path)}", where, f"write a name from {folder}, or a path")
                return None
        else:
            path = self.configs / folder / f"{name}.yaml"
            if not path.is_file() or "/" in name or "\\" in name:
                known = [file.stem for file in sorted((self.configs / folder).glob("*.yaml"))]
                what = f"{shown(name)}: there is no file {display(path)}"
                self.complain(key, what, where, suggestion(name, known))
                return None
        tree = self.file(path, key)
        if tree is not None and "name" not in tree:
            tree.put("name", path.stem, tree.mark)
        return tree

    def part(self, tree: Map, part: str) -> Map | None:
        """One part of the experiment with its name looked up; None, with a problem noted, when that fails."""
        value, where = tree[part], tree.marks[part]
        folder = FOLDERS.get(part)
        if folder is None:
            if isinstance(value, Map):
                return value
            self.complain(
                part, f"{shown(value)} is not a mapping", where, f"write {part} as a mapping in the experiment"
            )
            return None
        if isinstance(value, str):
            return self.named(folder, value, part, where)
        if not isinstance(value, Map):
            remedy = f"write a name from configs/{folder}, or a mapping"
            self.complain(part, f"{shown(value)} is neither a name nor a mapping", where, remedy)
            return None
        if "use" not in value:
            return value
        base_name = value["use"]
        if not isinstance(base_name, str):
            remedy = f"write a name from configs/{folder}"
            self.complain(f"{part}.use", f"{shown(base_name)} is not a name", value.marks["use"], remedy)
            return None
        base = self.named(folder, base_name, f"{part}.use", value.marks["use"])
        return None if base is None else merged(base, without(value, "use"))

    def experiment(self, tree: Map) -> dict[str, Map]:
        """All parts that could be composed; keys that are missing or unknown are noted."""
        known = ("name", "seed", *PARTS)
        for key in tree:
            if key not in known:
                self.complain(key, f"unknown key {key!r}", tree.marks[key], suggestion(key, known))
        composed = {}
        for part in PARTS:
            if part not in tree:
                example = (
                    f"{part}: NAME, a file in configs/{FOLDERS[part]}" if part in FOLDERS else f"{part}: with its keys"
                )
                self.complain(part, "this key is missing", tree.mark, f"add {example}")
            elif (found := self.part(tree, part)) is not None:
                composed[part] = found
        return composed


def merged(base: Map, over: Map) -> Map:
    """``base`` with the keys of ``over`` laid over it, mappings into mappings; lists are replaced."""
    result = Map(dict(base), over.mark, dict(base.marks))
    for key, value in over.items():
        former = result.get(key)
        if isinstance(value, Map) and isinstance(former, Map) and not (key in REPLACED and _other_kind(former, value)):
            result.put(key, merged(former, value), over.marks[key])
        else:
            result.put(key, value, over.marks[key])
    return result


def _other_kind(former: Map, value: Map) -> bool:
    return "kind" in value and value["kind"] != former.get("kind")


def without(tree: Map, key: str) -> Map:
    """A copy lacking one key."""
    return Map({name: value for name, value in tree.items() if name != key}, tree.mark, dict(tree.marks))


def display(path: Path) -> str:
    """The path from the current folder when it lies below it, else whole."""
    absolute = path if path.is_absolute() else Path.cwd() / path
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)
