"""A folder's hash is the one that a shell's commands give."""

import shutil
import subprocess
from pathlib import Path

import pytest

from components.core.json_folder import folder_sha256, json_files

COMMAND = "find -name '*.json' -not -path '*/.*' -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum"


def tree(folder: Path) -> Path:
    for name in (
        "train/algebra/10.json",
        "train/algebra/2.json",
        "test/Zeta/1.json",
        "test/a b/1.json",
        "test/é/1.json",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"name": "{name}"}}')
    return folder


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum")
def test_the_hash_is_that_of_the_command_in_the_docs(tmp_path: Path) -> None:
    folder = tree(tmp_path / "MATH")
    printed = subprocess.run(["bash", "-c", COMMAND], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert folder_sha256(folder) == printed.split()[0]


def test_what_is_no_data_does_not_count(tmp_path: Path) -> None:
    folder = tree(tmp_path / "MATH")
    before, names = folder_sha256(folder), json_files(folder)
    assert names[0] == "test/Zeta/1.json"
    for name in ("README.md", "train/algebra/._2.json", ".git/x.json", "__MACOSX/train/._3.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    assert (folder_sha256(folder), json_files(folder)) == (before, names)
    (folder / "train/algebra/2.json").rename(folder / "train/algebra/3.json")
    assert folder_sha256(folder) != before
