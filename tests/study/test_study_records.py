"""Records of a study's parts: found under the identity that they were made under, and under no other."""

import pytest

from components.core.errors import ContractError
from components.core.store import Store
from components.study.looks import model_name, step_of
from components.study.records import Left, Record, read_file, read_record, record_key, write_record


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
    "text", ["", "[]", '{"identity": "a", "error": ""}', '{"identity": "a", "error": "", "results": 1}']
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
