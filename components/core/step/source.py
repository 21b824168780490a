"""Code version: a hash of the first-party sources that a module reaches by imports, found without running them."""

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from components.core.errors import StepError
from components.core.services.state import source_root
from components.core.step.behaviour import behaviour

ROOT = source_root()
FIRST_PARTY = ("components", "pipelines")
DATA_SUFFIXES = frozenset({".txt", ".jinja", ".html", ".css", ".js", ".json", ".yaml", ".sql"})


def code_version(
    modules: tuple[str, ...],
    root: Path = ROOT,
    packages: tuple[str, ...] = FIRST_PARTY,
    unused: Collection[str] = (),
) -> str:
    """SHA-256, as hex, over names and contents of every file that the modules reach; comments and docstrings are left
    out, so that explaining code better repeats no training.

    Args:
        modules: where the walk begins.
        root: folder of the sources.
        packages: whose sources count.
        unused: modules, and packages with all below them, that count for nothing, nor what they alone reach.

    Raises:
        StepError: a module is not there or cannot be parsed.
    """
    digest = hashlib.sha256()
    for path in sorted(reached_files(modules, root, packages, unused)):
        data = path.read_bytes()
        content = hashlib.sha256(behaviour(data) if path.suffix == ".py" else data).hexdigest()
        digest.update(f"{content} {path.relative_to(root).as_posix()}\n".encode())
    return digest.hexdigest()


def reached_files(
    modules: Iterable[str],
    root: Path = ROOT,
    packages: tuple[str, ...] = FIRST_PARTY,
    unused: Collection[str] = (),
) -> set[Path]:
    """Sources reached from ``modules`` (their packages' ``__init__`` included) and the data files beside them; see
    :func:`code_version`."""
    todo = list(modules)
    sources: dict[str, Path] = {}
    while todo:
        name = todo.pop()
        if name in sources or name.split(".")[0] not in packages or _is_within(name, unused):
            continue
        path = module_path(name, root)
        if path is None:
            raise StepError(f"no such module: {name}", where=str(root), remedy="correct the name in the step or import")
        sources[name] = path
        if "." in name:
            todo.append(name.rpartition(".")[0])
        todo.extend(_imports(name, path, root))
    found = set(sources.values())
    for folder in {path.parent for path in found}:
        found.update(_data_files(folder))
    return found


def _is_within(name: str, packages: Collection[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def module_path(name: str, root: Path) -> Path | None:
    """The file of a module or of a package's ``__init__``; None when there is none."""
    base = root.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_name(base.name + ".py")):
        if path.is_file():
            return path
    return None


def _data_files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            # A folder without __init__ holds data of the module beside it; a package speaks for itself.
            if not (path / "__init__.py").exists() and path.name != "__pycache__":
                yield from _data_files(path)
        elif path.suffix in DATA_SUFFIXES:
            yield path


def _imports(name: str, path: Path, root: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        raise StepError(f"cannot parse {name}: {error}", where=str(path)) from error
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _running_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            yield base
            members = (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")
            yield from (member for member in members if module_path(member, root))
        elif isinstance(node, ast.Call):
            yield from _dynamic(node)


def _running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node, at any depth, but those that only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            for other in node.orelse:
                yield other
                yield from _running_nodes(other)
            continue
        yield node
        yield from _running_nodes(node)


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    parts = parts[: len(parts) - (node.level - 1)]
    return ".".join([*parts, *((node.module or "").split(".") if node.module else [])])


def _dynamic(node: ast.Call) -> Iterator[str]:
    """``import_module("a.b")`` with a literal name."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called in ("import_module", "__import__") and node.args:
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and not first.value.startswith("."):
            yield first.value
