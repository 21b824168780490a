"""A call that must be shut off from this machine's files is refused where nothing shuts it off."""

import subprocess
import sys
from pathlib import Path

import pytest

from components.sandbox.runner.sweep import fuller_than

ROOT = Path(__file__).parents[2]
SCRIPT = """
import dataclasses, sys, tempfile
from components.sandbox.limits import Limits
from components.sandbox.runner import child, kernel
def missing(*_): raise OSError(38, "Function not implemented")
kernel.restrict_paths = missing
for name in ("drop_capabilities", "die_with_parent", "filter_calls"): setattr(kernel, name, lambda *_: None)
limits = dataclasses.asdict(Limits(shut_files=sys.argv[1] == "shut"))
child.confine(limits, namespaces=False, user=None, folder=tempfile.gettempdir(), readable=[])
print("confined")
"""


@pytest.mark.parametrize(("wanted", "said"), [("shut", "nothing shuts off the files"), ("open", "confined")])
def test_a_kernel_without_landlock(wanted: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, wanted], check=False, cwd=ROOT, capture_output=True, text=True)
    assert said in done.stdout + done.stderr
    assert ("confined" in done.stdout) is (wanted == "open")


def test_a_folder_is_full_by_bytes_or_by_number(tmp_path: Path) -> None:
    assert not fuller_than(str(tmp_path), 100_000, 10)
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "two" / "file").write_bytes(b"x" * 90_000)
    assert not fuller_than(str(tmp_path), 100_000, 10)
    assert fuller_than(str(tmp_path), 50_000, 10)
    assert fuller_than(str(tmp_path), 100_000, 2)
    (tmp_path / "link").symlink_to("/")
    assert not fuller_than(str(tmp_path), 100_000, 10)
