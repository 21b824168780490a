"""Experiments that start from another one: ``use`` names it, and the other keys are laid over it."""

from pathlib import Path

from components.core.spec.compose import FOLDERS, Composer, merged, without
from components.core.spec.fields import suggestion
from components.core.spec.files import display, is_file, names_in, resolve
from components.core.spec.places import Map, Mark
from components.core.spec.secrets import shown


def find_experiment(composer: Composer, source: str | Path, key: str, where: Mark) -> Path | None:
    """The file of an experiment; None, with a problem noted, when there is none.

    Args:
        composer: whose ``configs/experiments`` has the names.
        source: a name there, or a path (it has a slash or ends in .yaml) that starts where it is written.
        key: of the problem.
        where: it is written; of the problem, too.
    """
    text, folder = str(source), composer.configs / "experiments"
    # Its YAML type tells nothing here: it is a name or a path in any case.
    given = shown(text).removesuffix(" (text)")
    if isinstance(source, Path) or "/" in text or text.endswith((".yaml", ".yml")):
        path = resolve(text, where)
        missing = f"there is no file {display(path)}" if path else f"{given} is no path"
    else:
        path = folder / f"{text}.yaml"
        missing = f"there is no experiment {given} in {display(folder)}"
    if path is not None and is_file(path):
        return path
    remedy = f"{suggestion(text, names_in(folder))}; or give the path of a YAML file"
    composer.complain(key, missing, where, remedy)
    return None


def read_experiment(composer: Composer, path: Path, users: tuple[Path, ...] = ()) -> Map | None:
    """The tree of an experiment's file laid over that of the experiment which it uses, and so on.

    The name is the file's own: the one that it gives, or that of the file with hyphens for underscores.

    Args:
        composer: gets the problems.
        path: the file.
        users: files that lead here by ``use``.

    Returns:
        The tree without ``use``; None, with a problem noted, when a file is missing, is no mapping or uses itself.
    """
    tree = composer.file(path)
    if tree is None:
        return None
    if "name" not in tree:
        tree.put("name", path.stem.replace("_", "-"), tree.mark)
    if "use" not in tree:
        return tree
    start, where = tree["use"], tree.marks["use"]
    if not isinstance(start, str):
        composer.complain("use", f"{shown(start)} is not a name", where, "name an experiment to start from")
        return None
    base = find_experiment(composer, start, "use", where)
    if base is None:
        return None
    if base.resolve() in {user.resolve() for user in (*users, path)}:
        composer.complain("use", f"{display(base)} starts from itself", where, "break the circle")
        return None
    below = read_experiment(composer, base, (*users, path))
    return None if below is None else laid_over(below, without(tree, "use"))


def laid_over(base: Map, over: Map) -> Map:
    """As :func:`merged`; and a part that is a name below takes a mapping's keys as changes of what it names.

    A mapping with ``use`` or a ``name`` of its own is another part, and inherits nothing.
    """
    opened = Map(dict(base), base.mark, dict(base.marks))
    for part in FOLDERS:
        above, below = over.get(part), opened.get(part)
        if isinstance(above, Map) and {"use", "name"} & set(above):
            opened.pop(part, None)
        elif isinstance(above, Map) and isinstance(below, str):
            mark = opened.marks[part]
            opened.put(part, Map({"use": below}, mark, {"use": mark}), mark)
    return merged(opened, over)
