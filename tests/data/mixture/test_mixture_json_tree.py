"""MATH as its authors give it away: one JSON file a problem, in folders or in an archive."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from components.core.errors import ConfigError, ContractError
from components.core.json_folder import folder_sha256
from components.core.progress import Progress
from components.core.spec import load_experiment
from components.data.mixture import json_tree
from components.data.mixture.fetch import check_unchanged, fetch
from components.data.mixture.json_tree import is_tree, read_tree
from components.data.mixture.prepare import prepare_mixture


def problem(number: int, subject: str) -> dict[str, str]:
    names = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ironwood", "Larch", "Maple", "Oak"]
    return {
        "problem": f"Of {subject}, {names[number % 12]} row {number}: what is ${number} + 1$?",
        "level": "Level 1",
        "type": subject,
        "solution": rf"It is $\boxed{{{number + 1}}}$.",
    }


ROWS = {f"train/algebra/{n}.json": problem(n, "algebra") for n in (10, *range(2, 10))} | {
    f"test/geometry/{n}.json": problem(n, "geometry") for n in range(20, 24)
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, row in ROWS.items():
        path = tmp_path / "MATH" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row), encoding="utf-8")
    return tmp_path / "MATH"


def packed(folder: Path, name: str) -> Path:
    path = folder.parent / name
    with tarfile.open(path, "w:gz" if name.endswith("gz") else "w") as archive:
        archive.add(folder, "MATH")
        archive.addfile(tarfile.TarInfo("MATH/train/algebra/._2.json"), io.BytesIO(b""))
    return path


@pytest.mark.parametrize("name", ["MATH.tar", "MATH.tar.gz", "MATH.tgz"])
def test_folder_and_archive_give_the_same_rows(folder: Path, name: str) -> None:
    unpacked = [row for _, row in read_tree(folder, "MATH")]
    assert [row["path"] for row in unpacked] == sorted(ROWS)
    assert {row["path"]: row["solution"] for row in unpacked} == {key: row["solution"] for key, row in ROWS.items()}
    found = [row for _, row in read_tree(packed(folder, name), name)]
    assert sorted(found, key=lambda row: row["path"]) == unpacked


def test_a_part_of_the_folder_has_the_same_paths(folder: Path) -> None:
    assert [row["path"] for _, row in read_tree(folder / "test", "MATH/test")] == sorted(ROWS)[:4]
    places = [place for place, _ in read_tree(folder / "test", "MATH/test")]
    assert places[0] == "geometry/20.json"


def test_one_bad_file_is_told_by_its_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "train/algebra/2.json").write_text("{")
    (folder / "train/algebra/3.json").write_text("[]")
    monkeypatch.setattr(json_tree, "LONGEST", 200)
    (folder / "train/algebra/4.json").write_text(json.dumps({"problem": "x" * 200}))
    for path in (folder, packed(folder, "MATH.tar")):
        bad = {
            place.split("MATH/")[-1]: row for place, row in read_tree(path, "MATH") if isinstance(row, ContractError)
        }
        assert sorted(bad) == [f"train/algebra/{number}.json" for number in (2, 3, 4)]
        assert "MiB" in bad["train/algebra/4.json"].what


def test_a_broken_archive_is_an_error_and_not_fewer_rows(folder: Path) -> None:
    whole = packed(folder, "MATH.tar.gz").read_bytes()
    for content in (whole[: len(whole) // 2], b"no archive", b""):
        path = folder.parent / "broken.tar.gz"
        path.write_bytes(content)
        with pytest.raises(ContractError, match="no readable archive"):
            list(read_tree(path, "broken.tar.gz"))


def test_a_folder_that_changes_is_noticed(folder: Path) -> None:
    from components.core.spec.mixture import DataFile

    found = fetch(DataFile(path=str(folder), sha256=folder_sha256(folder)), folder.parent)
    assert is_tree(found.path, found.source)
    check_unchanged(found)
    (folder / "train/algebra/99.json").write_text("{}")
    with pytest.raises(ContractError, match="changed while it was read"):
        check_unchanged(found)
    with pytest.raises(ContractError, match="the experiment names"):
        fetch(DataFile(path=str(folder), sha256="0" * 64), folder.parent)


def test_both_parts_come_from_one_source(folder: Path) -> None:
    tables = []
    for place, path in (("f", folder), ("a", packed(folder, "MATH.tar"))):
        mixture = {
            "sources": {"math": {"train": [{"path": str(path)}]}},
            "weights": {"math": 1, "qa": 0, "code": 0},
            "validation_share": 0.3,
            "dedup": {"ngram": 0},
        }
        data = {"name": "math", "kind": "mixture", "heldout_rows": 4, "mixture": mixture}
        changes = (f"data={json.dumps(data)}", "reward=rule-only", "evaluation.tasks={sets: [math]}")
        out = folder.parent / f"out-{place}"
        out.mkdir()
        prepare_mixture(load_experiment("tiny", changes), out, folder.parent / f"work-{place}", Progress("p"))
        info = json.loads((out / "info.json").read_text())
        assert info["rows"]["test"] == {"math": 4}
        assert info["rows"]["train"]["math"] + info["rows"]["validation"]["math"] == 9
        tables.append(sorted(json.loads(line)["id"] for line in (out / "test_math.jsonl").read_text().splitlines()))
    assert tables[0] == tables[1]


def test_a_folder_counts_by_its_content_and_for_math_alone(folder: Path) -> None:
    def load(name: str, path: Path):  # type: ignore[no-untyped-def]
        mixture = {"sources": {name: {"train": [{"path": str(path)}]}}, "weights": {"math": 1, "qa": 0, "code": 0}}
        data = {"name": "math", "kind": "mixture", "heldout_rows": 4, "mixture": mixture}
        return load_experiment("tiny", (f"data={json.dumps(data)}", "reward=rule-only"))

    mixture = load("math", folder).data.mixture
    assert mixture is not None
    ((_, file),) = mixture.files()
    assert file.sha256 == folder_sha256(folder)
    with pytest.raises(ConfigError, match="directory"):
        load("gsm8k", folder)
