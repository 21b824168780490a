"""Code versions: exactly what a module reaches, found without running it."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import StepError
from components.core.step.source import ROOT, code_version, reached_files

PACKAGES = ("app",)


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def reached(root: Path, *modules: str) -> set[str]:
    return {path.relative_to(root).as_posix() for path in reached_files(modules, root, PACKAGES)}


BASE = {"app/__init__.py": "", "app/a/__init__.py": "", "app/b.py": "x = 1", "app/c/__init__.py": "", "app/c/d.py": ""}
ALWAYS = {"app/__init__.py", "app/a/__init__.py", "app/a/m.py"}


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("import os, json", set()),
        ("import app.b", {"app/b.py"}),
        ("import app.b as q, app.c.d", {"app/b.py", "app/c/__init__.py", "app/c/d.py"}),
        ("from app.b import x", {"app/b.py"}),
        ("from app import b", {"app/b.py"}),
        ("from app.c import d", {"app/c/__init__.py", "app/c/d.py"}),
        ("from app.c import nothing_that_is_a_module", {"app/c/__init__.py"}),
        ("from app.c import *", {"app/c/__init__.py"}),
        ("from .. import b", {"app/b.py"}),
        ("from ..c.d import y", {"app/c/__init__.py", "app/c/d.py"}),
        ("from ..c import d as e", {"app/c/__init__.py", "app/c/d.py"}),
        ("from . import m", set()),
        ("def f():\n    if f:\n        from app import b", {"app/b.py"}),
        ("class K:\n    async def f(self):\n        import app.b", {"app/b.py"}),
        ("try:\n    import app.b\nexcept ImportError:\n    pass", {"app/b.py"}),
        ("import importlib\nimportlib.import_module('app.b')", {"app/b.py"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.b", set()),
        ("import typing\nif typing.TYPE_CHECKING:\n    import app.b\nelse:\n    import app.c", {"app/c/__init__.py"}),
        ("text = 'import app.b'  # import app.b", set()),
    ],
)
def test_forms_of_import(tmp_path: Path, code: str, more: set[str]) -> None:
    root = tree(tmp_path, {**BASE, "app/a/m.py": code})
    assert reached(root, "app.a.m") == ALWAYS | more


@pytest.mark.parametrize(
    ("unused", "left"),
    [
        ((), {"app/c/__init__.py", "app/c/d.py", "app/cc.py", "app/b.py"}),
        # With the package goes what it alone reaches (b), and nothing whose name only begins alike (cc).
        (("app.c",), {"app/cc.py"}),
        (("app.c.d",), {"app/c/__init__.py", "app/cc.py"}),
        (("app.b",), {"app/c/__init__.py", "app/c/d.py", "app/cc.py"}),
    ],
)
def test_what_is_unused_counts_for_nothing(tmp_path: Path, unused: tuple[str, ...], left: set[str]) -> None:
    code = "import app.cc\ndef f():\n    from app.c import d"
    root = tree(tmp_path, {**BASE, "app/a/m.py": code, "app/cc.py": "", "app/c/d.py": "import app.b"})
    found = {path.relative_to(root).as_posix() for path in reached_files(("app.a.m",), root, PACKAGES, unused)}
    assert found == ALWAYS | left
    before = code_version(("app.a.m",), root, PACKAGES, unused)
    tree(tmp_path, {"app/c/d.py": "import app.b\nx = 2"})
    assert (code_version(("app.a.m",), root, PACKAGES, unused) == before) == ("app/c/d.py" not in left)


def test_package_itself_resolves_relative_imports_from_itself(tmp_path: Path) -> None:
    root = tree(tmp_path, {**BASE, "app/c/__init__.py": "from .d import y\nfrom . import d"})
    assert reached(root, "app.c") == {"app/__init__.py", "app/c/__init__.py", "app/c/d.py"}


def test_imports_are_followed_and_circles_end(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "",
        "app/x.py": "import app.y",
        "app/y.py": "from app import z",
        "app/z.py": "import app.x",
    }
    root = tree(tmp_path, {**files, "app/other.py": ""})
    assert reached(root, "app.x") == set(files)


def test_data_beside_counts_with_its_folders_but_not_another_packages(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            **BASE,
            "app/a/m.py": "",
            "app/a/prompt.txt": "p",
            "app/a/words/animals.txt": "w",
            "app/a/words/deep/x.jinja": "w",
            "app/a/notes.md": "n",
            "app/a/__pycache__/m.txt": "n",
            "app/c/page.html": "h",
        },
    )
    assert reached(root, "app.a.m") == ALWAYS | {
        "app/a/prompt.txt",
        "app/a/words/animals.txt",
        "app/a/words/deep/x.jinja",
    }


@pytest.mark.parametrize("code", ["import app.nowhere", "from app.nowhere import x", "import app.c.nowhere"])
def test_missing_module_is_named(tmp_path: Path, code: str) -> None:
    root = tree(tmp_path, {**BASE, "app/a/m.py": code})
    with pytest.raises(StepError, match="nowhere"):
        reached(root, "app.a.m")


def test_missing_step_module_is_named(tmp_path: Path) -> None:
    with pytest.raises(StepError, match=r"no such module: app\.steps"):
        reached(tree(tmp_path, BASE), "app.steps")


def test_source_that_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    with pytest.raises(StepError, match=r"cannot parse app\.b") as caught:
        reached(tree(tmp_path, {**BASE, "app/b.py": "def"}), "app.b")
    assert caught.value.where.endswith("b.py")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n)), st.data())
def test_any_graph(tmp_path_factory: pytest.TempPathFactory, edges: list[set[int]], data: st.DataObject) -> None:
    """Against the closure of a graph that was drawn beforehand."""
    forms = ["import app.m{}", "from app import m{}", "from . import m{}", "def f():\n    from .m{} import x"]
    root = tmp_path_factory.mktemp("graph")
    files = {"app/__init__.py": ""}
    for index, targets in enumerate(edges):
        lines = [data.draw(st.sampled_from(forms)).format(target) for target in sorted(targets)]
        files[f"app/m{index}.py"] = "\n".join(lines)
    tree(root, files)
    closure, frontier = {0}, [0]
    while frontier:
        for target in edges[frontier.pop()] - closure:
            closure.add(target)
            frontier.append(target)
    assert reached(root, "app.m0") == {"app/__init__.py"} | {f"app/m{index}.py" for index in closure}
    before = code_version(("app.m0",), root, PACKAGES)
    for index in range(len(edges)):
        path = root / "app" / f"m{index}.py"
        text = path.read_text()
        path.write_text(text + "\nCHANGED = 1")
        assert (code_version(("app.m0",), root, PACKAGES) != before) == (index in closure)
        path.write_text(text)
    assert code_version(("app.m0",), root, PACKAGES) == before


def test_renaming_a_module_changes_the_version(tmp_path: Path) -> None:
    one = tree(tmp_path / "1", {"app/__init__.py": "", "app/x.py": "from app import y", "app/y.py": "v = 1"})
    two = tree(tmp_path / "2", {"app/__init__.py": "", "app/x.py": "from app import y", "app/y/__init__.py": "v = 1"})
    assert code_version(("app.x",), one, PACKAGES) != code_version(("app.x",), two, PACKAGES)


def test_version_does_not_depend_on_where_the_checkout_lies(tmp_path: Path) -> None:
    tree(tmp_path / "1", BASE)
    shutil.copytree(tmp_path / "1", tmp_path / "elsewhere" / "2")
    versions = {code_version(("app.c.d",), root, PACKAGES) for root in (tmp_path / "1", tmp_path / "elsewhere" / "2")}
    assert len(versions) == 1


def test_what_retrains_and_what_does_not(tmp_path: Path) -> None:
    from components.train.step import STEP

    root = tmp_path / "checkout"
    for package in ("components", "pipelines"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    modules = (STEP.module, *STEP.extra_modules)
    before = code_version(modules, root)
    for name in ("components/report/step.py", "components/score/step.py", "components/generate/step.py"):
        with (root / name).open("a") as stream:
            stream.write("\nCHANGED = 1\n")
    assert code_version(modules, root) == before
    with (root / "components/reward/rubric.py").open("a") as stream:
        stream.write("\n# explained better\n")
    assert code_version(modules, root) == before
    for name in ("components/reward/rubric.py", "components/judge/protocols/templates/conditioned.txt"):
        text = (root / name).read_text()
        (root / name).write_text(text + "\nCHANGED = 1\n")
        assert code_version(modules, root) != before, name
        (root / name).write_text(text)
