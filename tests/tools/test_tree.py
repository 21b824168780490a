"""The tree keeps its own rules."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("scan_tree", ROOT / ".ci" / "scan_tree.py")
assert _SPEC
assert _SPEC.loader
scan_tree = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(scan_tree)
findings, main, tracked_files = scan_tree.findings, scan_tree.main, scan_tree.tracked_files

SOURCES = [path for path in tracked_files() if path.suffix == ".py" and path.parts[0] in ("components", "pipelines")]
STEPS = ("data", "deploy_judge", "probe_judge", "teardown_judge", "train", "checkpoint", "generate", "score", "report")


def test_nothing_secret_is_tracked():
    assert main([]) == 0


@pytest.mark.parametrize(
    "line",
    [
        "key = 's" + "k-abcdefgh12345678'",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "url = https://user:pass" + "word@host/x",
        "/wo" + "rk/main/file.py",
        "-----BEGIN RSA PRIVATE" + " KEY-----",
    ],
)
def test_the_scan_finds(tmp_path: Path, line: str):
    (tmp_path / "f").write_text(f"harmless\n{line}\n")
    assert len(list(findings(tmp_path / "f"))) == 1


def test_there_are_sources():
    assert len(SOURCES) > 50


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_module_is_of_readable_size_and_says_what_it_is(path: Path):
    text = (ROOT / path).read_text()
    assert len(text.splitlines()) <= 800
    assert ast.get_docstring(ast.parse(text)), "no module docstring"


def broad_handlers(path: Path) -> int:
    broad = 0
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type
            name = caught.id if isinstance(caught, ast.Name) else ""
            raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            if (caught is None or name in ("Exception", "BaseException")) and not raises:
                broad += 1
    return broad


BOUNDARIES = {
    "components/core/within.py": 1,
    "components/sandbox/runner/child.py": 2,
    "components/tasks/code_candidate.py": 2,
    "components/tasks/code_handles.py": 1,
    "components/tasks/code_referee.py": 2,
    "components/tasks/math_check.py": 1,
    "components/train/driver.py": 1,
}
"""Where untrusted code ends, in the sandbox's processes: whatever it raises, and whatever its error raises when it is
printed, is its outcome; so it is with what a text brings about that is read as mathematics. The process inside a RayJob
leaves the reason of its end in the store. And a thread's end, whose error is raised again by whoever waits for it."""


def test_a_broad_except_stands_only_at_the_process_boundary():
    found = {str(path): count for path in SOURCES if (count := broad_handlers(path))}
    assert found == BOUNDARIES


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("step", STEPS)
def test_steps_never_import_each_other(step: str):
    own = [path for path in SOURCES if path.parts[:2] == ("components", step)]
    assert own
    for path in own:
        foreign = {
            name
            for name in imported(path)
            if name.startswith("components.")
            and name.split(".")[1] in set(STEPS) - {step}
            # Libraries that a step's folder offers to others are its public face.
            and name not in LIBRARIES
        }
        assert not foreign, f"{path} imports {foreign}"


LIBRARIES: set[str] = set()


@pytest.mark.parametrize("path", [p for p in SOURCES if p.parts[1] == "core"], ids=str)
def test_core_imports_no_room(path: Path):
    rooms = {name for name in imported(path) if name.startswith("components.") and name.split(".")[1] != "core"}
    assert not rooms
