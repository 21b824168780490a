"""Records of a study's parts: found under the identity that they were made under, and under no other."""

from pathlib import Path

import pytest

from components.core.errors import ContractError, StorageError
from components.core.store import Store
from components.study.looks import model_name, step_of
from components.study.records import Left, Record, fetch_file, read_file, read_record, record_key, write_record


def test_a_record_reads_back_and_counts_for_its_own_identity_alone(tmp_path):
    url = tmp_path.as_uri()
    record = Record("a" * 64, {"scores": Left(f"{url}/x/score/1/2", "b" * 64)})
    write_record(url, "mine", "arms", "one", record)
    assert read_record(url, "mine", "arms", "one", "a" * 64) == record
    assert read_record(url, "mine", "arms", "one", "c" * 64) is None
    assert read_record(url, "mine", "probes", "one", "a" * 64) is None
    assert read_record(url, "other", "arms", "one", "a" * 64) is None


def test_a_failure_is_kept_with_its_reason_and_without_results(tmp_path):
    url = tmp_path.as_uri()
    write_record(url, "mine", "arms", "one", Record("a" * 64, {}, "train-grpo: the judge is down"))
    found = read_record(url, "mine", "arms", "one", "a" * 64)
    assert found is not None
    assert found.error == "train-grpo: the judge is down"
    assert found.results == {}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "[" * 100_000, '{"identity": "a", "error": ""}', '{"identity": "a", "error": "", "results": 1}'],
)
def test_a_record_that_is_none_is_told_and_never_read_as_nothing(tmp_path, text):
    url = tmp_path.as_uri()
    Store.open(url).write_bytes(record_key("mine", "arms", "one"), text.encode())
    with pytest.raises(ContractError, match="not a record"):
        read_record(url, "mine", "arms", "one", "a")


def test_files_of_a_result_are_read_from_its_own_folder(tmp_path):
    url = tmp_path.as_uri()
    Store.open(url).write_bytes("arm/score/1/2/summary.json", b"{}")
    assert read_file(url, Left(f"{url}/arm/score/1/2", ""), "summary.json") == b"{}"


@pytest.mark.parametrize(
    ("model", "step"), [("base", 0), ("trained", 350), ("step-000050", 50), ("rollout", None), ("step-50", None)]
)
def test_a_look_is_known_by_its_name(model, step):
    assert step_of(model, 350) == step


def test_names_of_looks_sort_as_steps_do():
    steps = [2, 10, 100, 999_999]
    assert sorted(map(model_name, reversed(steps))) == [model_name(step) for step in steps]


def published(tmp_path: Path) -> tuple[str, Left]:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "table.txt").write_text("0.25")
    url = (tmp_path / "store").as_uri()
    store = Store.open(url)
    store.upload(tmp_path / "made", "arm/score/1/2")
    return url, Left(f"{url}/arm/score/1/2", store.manifest("arm/score/1/2").sha256)


def test_a_file_is_the_published_one_whatever_an_earlier_fetch_has_left(tmp_path):
    url, left = published(tmp_path)
    folder = tmp_path / "files"
    folder.mkdir()
    # As by a start that was killed while it wrote.
    (folder / "table.txt").write_text("0.2")
    assert fetch_file(url, left, "table.txt", folder).read_text() == "0.25"


def test_a_file_that_was_changed_in_the_store_is_told_and_not_read(tmp_path):
    url, left = published(tmp_path)
    (tmp_path / "store" / "arm/score/1/2/table.txt").write_text("0.75")
    with pytest.raises(StorageError, match=r"table\.txt"):
        fetch_file(url, left, "table.txt", tmp_path / "files")


def test_another_result_in_the_place_of_the_recorded_one_is_told(tmp_path):
    url, left = published(tmp_path)
    with pytest.raises(ContractError, match="was recorded"):
        fetch_file(url, left._replace(sha256="b" * 64), "table.txt", tmp_path / "files")
    with pytest.raises(StorageError, match="no file"):
        fetch_file(url, left, "other.txt", tmp_path / "files")
