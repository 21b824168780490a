"""From an experiment's file to one tree for each part: names become the files they mean."""

import re
from pathlib import Path

from components.core.spec.base import NAME
from components.core.spec.experiment import OPTIONAL, PARTS
from components.core.spec.fields import suggestion
from components.core.spec.files import display, is_file, names_in, resolve
from components.core.spec.places import Map, Mark, ReadError, Seq
from components.core.spec.problems import Problem
from components.core.spec.reader import read_file
from components.core.spec.secrets import is_secret, shown

FOLDERS = {"policy": "policies", "judge": "judges", "reward": "rewards", "data": "datasets", "cluster": "clusters"}
"""Parts that can be named, and the folder below ``configs`` that holds them."""

NAMED = {**FOLDERS, "ladder": "ladders"}
"""With what is named inside of a part."""

WORKFLOW = {"executor": "judge", "reward": "ladder"}
"""Keys of the part workflow that can be named, and what they are."""

REPLACED = ("source", "store")
"""Mappings with a ``kind``: another kind replaces the whole, since the fields of the former make no sense in it."""

KNOWN = ("name", "seed", *PARTS, *OPTIONAL)
"""Keys of an experiment."""


class Composer:
    """Reads files below one ``configs`` folder and collects problems instead of stopping at the first."""

    def __init__(self, configs: Path) -> None:
        self.configs = configs
        self.problems: list[Problem] = []

    def complain(self, key: str, what: str, where: Mark, remedy: str) -> None:
        """Note a problem, once."""
        problem = Problem(key, what, where, remedy)
        if problem not in self.problems:
            self.problems.append(problem)

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

    def named(self, part: str, name: str, key: str, where: Mark) -> Map | None:
        """The mapping of a part's file; a name ending in .yaml is a path that starts at the file using it."""
        folder = self.configs / NAMED[part]
        known = names_in(folder)
        if name.endswith((".yaml", ".yml")):
            path = resolve(name, where)
            missing = f"there is no file {display(path)}" if path else f"{shown(name)} is no path"
        else:
            path = folder / f"{name}.yaml" if re.match(NAME, name) else None
            missing = f"there is no file {display(folder / name)}.yaml" if path else f"{shown(name)} is no name"
        if path is None or not is_file(path):
            what = f"{shown(name)} is no {part}" if is_secret(name) else missing
            self.complain(key, what, where, f"{suggestion(name, known)}; or give a path that ends in .yaml")
            return None
        tree = self.file(path, key)
        if tree is not None and "name" not in tree:
            tree.put("name", path.stem, tree.mark)
        return tree

    def part(self, tree: Map, part: str) -> Map | None:
        """One part of the experiment with its name looked up; None, with a problem noted, when that fails."""
        value, where = tree[part], tree.marks[part]
        if part not in FOLDERS:
            if isinstance(value, Map):
                return value
            self.complain(part, f"{shown(value)} is not a mapping", where, f"write {part} as a mapping of its keys")
            return None
        remedy = f"write a name from {display(self.configs / FOLDERS[part])}, or a mapping"
        if isinstance(value, str):
            return self.named(part, value, part, where)
        if not isinstance(value, Map):
            self.complain(part, f"{shown(value)} is neither a name nor a mapping", where, remedy)
            return None
        if "use" not in value:
            return value
        start = value["use"]
        if not isinstance(start, str):
            self.complain(f"{part}.use", f"{shown(start)} is not a name", value.marks["use"], remedy)
            return None
        base = self.named(part, start, f"{part}.use", value.marks["use"])
        return None if base is None else merged(base, without(value, "use"))

    def members(self, panel: Map) -> None:
        """Put the mappings in the place of a panel's names; what is no name and no mapping is left to validation."""
        members = panel.get("members")
        if not isinstance(members, Seq):
            return
        for number, value in enumerate(members):
            where = members.marks[number]
            found = self._inner("judge", value, f"panel.members.{number}", where)
            if found is not None:
                members[number] = found

    def workflow(self, tree: Map) -> None:
        """Put mappings in the place of the names of executor model and reward, likewise."""
        for key, part in WORKFLOW.items():
            if key in tree:
                found = self._inner(part, tree[key], f"workflow.{key}", tree.marks[key])
                if found is not None:
                    tree.put(key, found, tree.marks[key])

    def _inner(self, part: str, value: object, key: str, where: Mark) -> Map | None:
        if isinstance(value, str):
            return self.named(part, value, key, where)
        if isinstance(value, Map) and isinstance(start := value.get("use"), str):
            base = self.named(part, start, f"{key}.use", value.marks["use"])
            return None if base is None else merged(base, without(value, "use"))
        return None

    def experiment(self, tree: Map) -> dict[str, Map]:
        """All parts that could be composed; keys that are missing or unknown are noted."""
        for key in tree:
            if key not in KNOWN:
                what = f"unknown key {key!r} (value {shown(tree[key], key)})"
                self.complain(key, what, tree.marks[key], suggestion(key, KNOWN))
        composed = {}
        for part in OPTIONAL:
            if tree.get(part) is not None:
                found = self.part(tree, part)
                if found is not None:
                    composed[part] = found
        for part in PARTS:
            if part in tree:
                found = self.part(tree, part)
                if found is not None:
                    composed[part] = found
            else:
                named = (
                    f"NAME, a file in {display(self.configs / FOLDERS[part])}" if part in FOLDERS else "and its keys"
                )
                self.complain(part, "this key is missing", tree.mark, f"add {part}: {named}")
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


def without(tree: Map, key: str) -> Map:
    """A copy lacking one key."""
    return Map({name: value for name, value in tree.items() if name != key}, tree.mark, dict(tree.marks))


def _other_kind(former: Map, value: Map) -> bool:
    return "kind" in value and value["kind"] != former.get("kind")
