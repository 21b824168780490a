"""Data sets that a user mounts: LLMBar, JudgeBench, MT-Bench, and what models wrote."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from components.bias.items import items_of, spread
from components.bias.mounted import DataSet, Mounted
from components.bias.probe import Request, Skip, all_probes
from components.bias.readers.mtbench import referenced
from components.bias.readers.pairs import gold_pairs, judgebench, llmbar
from components.bias.types import Item, Role
from components.core.errors import ContractError

DATA = Path(os.environ.get("GAVEL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def built(name: str, folder: Path, judge: str | None = None, family: str | None = None) -> list[Item] | Skip:
    return items_of(all_probes()[name], Request(1, Mounted(folder), judge, family), 1000)


def test_llmbar_in_its_own_layout_goes_to_position_or_polish(tmp_path: Path) -> None:
    row = {"input": "Say A.", "output_1": "B, at length.", "output_2": "A", "label": 2}
    for part in ("Natural", "Adversarial/Neighbor"):
        path = tmp_path / "LLMBar" / part / "dataset.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps([row]), encoding="utf-8")
    natural = gold_pairs("position", Mounted(tmp_path), ornate=False)
    neighbor = gold_pairs("polish", Mounted(tmp_path), ornate=True)
    assert [item.source for item in natural + neighbor] == ["llmbar-Natural", "llmbar-Neighbor"]
    assert neighbor[0].forms[Role.BASE].response == "A"
    assert neighbor[0].forms[Role.CHANGED].response == "B, at length."
    assert neighbor[0].gold is Role.BASE


def test_judgebench_takes_the_key_from_its_label(tmp_path: Path) -> None:
    rows = [
        {"pair_id": "p1", "question": "q", "response_A": "a", "response_B": "b", "label": "B>A"},
        {"pair_id": "p2", "question": "q", "response_A": "a", "response_B": "b", "label": "A>B"},
    ]
    lines(tmp_path / "dataset=judgebench,response_model=some-model.jsonl", rows)
    assert [(pair.source, pair.better) for pair in judgebench(Mounted(tmp_path))] == [
        ("judgebench-some-model", "b"),
        ("judgebench-some-model", "a"),
    ]
    # One question is one text, however many pairs it has.
    assert len({item.text_id for item in gold_pairs("position", Mounted(tmp_path), ornate=False)}) == 1


@pytest.mark.parametrize(
    ("name", "row", "what"),
    [
        ("llmbar_Natural.json", [{"input": "q", "output_1": "a", "output_2": "b", "label": 3}], "label is 3"),
        ("llmbar_Natural.json", [{"input": "q", "output_1": "a", "label": 1}], "output_2"),
        (
            "x_judgebench.jsonl",
            {"pair_id": "1", "question": "q", "response_A": "a", "response_B": "b"},
            "label is None",
        ),
        ("x_judgebench.jsonl", [1], "no object"),
    ],
)
def test_a_file_of_another_format_is_refused_with_its_place(tmp_path: Path, name: str, row: Any, what: str) -> None:
    (tmp_path / name).write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(ContractError, match=what) as error:
        gold_pairs("position", Mounted(tmp_path), ornate=False)
    assert name in str(error.value)


PAIR = '{"input": "q", "output_1": "a", "output_2": "b", "label": 1}'
LYING = {
    "cut": ("llmbar_Natural.json", f"[{PAIR}, ".encode(), "no JSON"),
    "of numbers": ("llmbar_Natural.json", b"[1, 2]", "no object"),
    "one text": ("llmbar_Natural.json", b'"q"', "no object"),
    "labelled true": ("llmbar_Natural.json", PAIR.replace("1}", "true}").encode(), "label is True"),
    "half a surrogate pair": ("llmbar_Natural.json", PAIR.replace("q", "\\ud800").encode(), "'input' is no text"),
    "of bytes": ("llmbar_Natural.json", b"\xff\xfe\x00[", "cannot be read"),
    "too deep": ("llmbar_Natural.json", b"[" * 100_000, "no JSON"),
    "a number of ten thousand digits": ("llmbar_Natural.json", b"9" * 10_000, "no JSON"),
    "lines of bytes": ("x_judgebench.jsonl", b"\xff\n", "cannot be read"),
    "lines that are cut": ("x_judgebench.jsonl", b'{"pair_id": "1"', "no JSON"),
}


@pytest.mark.parametrize("name", LYING)
def test_a_file_that_lies_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    file, data, what = LYING[name]
    (tmp_path / file).write_bytes(data)
    with pytest.raises(ContractError, match=what) as error:
        gold_pairs("position", Mounted(tmp_path), ornate=False)
    assert file in str(error.value)


def test_a_mark_at_a_files_beginning_is_none_of_its_text(tmp_path: Path) -> None:
    (tmp_path / "llmbar_Natural.json").write_bytes(b"\xef\xbb\xbf" + PAIR.encode())
    assert [pair.better for pair in llmbar(Mounted(tmp_path))] == ["a"]


def test_a_folder_that_is_not_there_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no such folder"):
        built("position", tmp_path / "gone")


def test_mtbench_joins_questions_and_references_by_id(tmp_path: Path) -> None:
    lines(tmp_path / "question.jsonl", [{"question_id": n, "turns": [f"q{n}", "more"]} for n in (101, 102)])
    row = {"question_id": 102, "choices": [{"index": 0, "turns": ["r102", "more"]}]}
    lines(tmp_path / "reference_answer" / "gpt-4.jsonl", [row])
    assert referenced(Mounted(tmp_path)) == [("102", "q102", "r102")]


def written(tmp_path: Path, texts: int) -> None:
    responses = [
        {"model": "judge-1", "family": "J", "text": "I wrote this because it is what usually helps.", "quality": 3},
        {"model": "judge-2", "family": "J", "text": "My kin wrote this.", "quality": 3},
        *(
            {"model": f"other-{n}", "family": "O", "text": f"Number {n} wrote this because it helps.", "quality": 3}
            for n in range(5)
        ),
        {"model": "better", "family": "O", "text": "This one is better.", "quality": 4},
    ]
    rows = [
        {"text_id": f"t{n}", "question": f"q{n}", "criteria": ["It helps."], "responses": responses}
        for n in range(texts)
    ]
    lines(tmp_path / "responses.jsonl", rows)


def test_self_and_family_preference_take_pairs_of_equal_quality_alone(tmp_path: Path) -> None:
    written(tmp_path, 40)
    own = built("self_preference", tmp_path, "judge-1", "J")
    kin = built("family_preference", tmp_path, "judge-1", "J")
    assert isinstance(own, list)
    assert isinstance(kin, list)
    decided = [item for item in own if item.gold is not None]
    # One stranger wrote something better for each of 40 requests: no match, but a pair whose better response is known.
    assert {(item.gold, item.source, item.forms[Role.BASE].response) for item in decided} == {
        (Role.BASE, "decided responses", "This one is better.")
    }
    assert len(decided) == 40
    own, kin = ([item for item in items if item.gold is None] for items in (own, kin))
    # Five strangers of quality 3 for each of 40 requests.
    assert len(own) == len(kin) == 200
    assert {item.forms[Role.CHANGED].response[:9] for item in own} == {"I wrote t"}
    assert {item.forms[Role.CHANGED].response for item in kin} == {"My kin wrote this."}
    assert not any("better" in item.forms[Role.BASE].response for item in own + kin)
    assert {item.author for item in own} == {"J"}
    for item in own:
        assert item.forms[Role.PLACEBO].response != item.forms[Role.BASE].response


def test_too_few_written_texts_are_skipped_with_the_numbers(tmp_path: Path) -> None:
    written(tmp_path, 39)
    found = built("self_preference", tmp_path, "judge-1", "J")
    assert isinstance(found, Skip)
    assert "195 items of 39 texts" in found.reason
    nobody = built("self_preference", tmp_path, "somebody-else", "X")
    assert isinstance(nobody, Skip)
    assert "somebody-else" in nobody.reason


@pytest.mark.parametrize("quality", [None, "4", True, float("nan"), float("inf"), 10**400])
def test_a_response_without_quality_is_refused(tmp_path: Path, quality: Any) -> None:
    """What is no number equals nothing, and two infinities each other: pairs would be lost, or made."""
    row = {
        "text_id": "t",
        "question": "q",
        "criteria": ["c"],
        "responses": [{"model": "m", "family": "f", "text": "x", "quality": quality}],
    }
    lines(tmp_path / "responses.jsonl", [row])
    with pytest.raises(ContractError, match="without a quality"):
        built("self_preference", tmp_path, "m", "f")


def test_refinements_differ_in_the_note_alone(tmp_path: Path) -> None:
    rows = [
        {"text_id": f"t{n % 50}", "question": "q", "criteria": ["c"], "draft": "d", "refined": "r", "family": "F"}
        for n in range(200)
    ]
    lines(tmp_path / "refinements.jsonl", rows)
    found = built("refinement", tmp_path)
    assert isinstance(found, list)
    for item in found:
        changed, placebo = item.forms[Role.CHANGED].response, item.forms[Role.PLACEBO].response
        assert changed.endswith(" r")
        assert placebo.endswith(" r")
        assert changed != placebo
        assert len(changed.split()) - len(placebo.split()) in range(-2, 3)


@pytest.mark.skipif(not (DATA / "llmbar_Natural.json").exists(), reason="the official files are not in ../shared/data")
def test_the_official_files_are_read_and_picking_the_longer_gives_the_published_accuracy() -> None:
    # Counts and figures: LLMBar (arXiv 2310.07641) and counted from its files, see docs/probes.md.
    mounted = Mounted(DATA)
    counts = Counter(pair.source for pair in llmbar(mounted))
    assert counts == {"llmbar-Natural": 100, "llmbar-Neighbor": 134, "llmbar-Manual": 46}
    for part, share in (("Natural", 56.0), ("Neighbor", 11.9), ("Manual", 17.4)):
        pairs = [pair for pair in llmbar(mounted) if pair.source == f"llmbar-{part}"]
        longer = sum(len(pair.better) > len(pair.other) for pair in pairs)
        assert round(100 * longer / len(pairs), 1) == share
    assert Counter(pair.source for pair in judgebench(mounted)) == {"judgebench-gpt4o": 350}
    assert len(referenced(mounted)) == 30
    polish = items_of(all_probes()["polish"], Request(0, mounted), 48)
    assert isinstance(polish, list)
    assert Counter(item.source for item in polish) == {"shipped": 48, "llmbar-Neighbor": 48, "llmbar-Manual": 46}


def own_and_other(text: int, number: int) -> dict[str, Any]:
    written = [
        {"model": "mine", "family": "F", "text": f"own {text} {number}", "quality": 1},
        {"model": "theirs", "family": "G", "text": f"other {text} {number}", "quality": 1},
    ]
    return {"text_id": f"t{text}", "question": f"q{text}", "criteria": ["c"], "responses": written}


def test_the_first_items_of_mounted_responses_are_of_as_many_texts_as_can_be(tmp_path: Path) -> None:
    # 50 requests, four own and four other responses to each: 16 pairs a request, one request after the other.
    lines(tmp_path / "responses.jsonl", [own_and_other(text, number) for text in range(50) for number in range(4)])
    request = Request(1, Mounted(tmp_path), "mine", "F")
    ten = items_of(all_probes()["self_preference"], request, 10)
    assert not isinstance(ten, Skip)
    assert [item.text_id for item in ten] == [f"t{text}" for text in range(10)]
    most = items_of(all_probes()["self_preference"], request, 120)
    assert not isinstance(most, Skip)
    assert sorted(Counter(item.text_id for item in most).values()) == [2] * 30 + [3] * 20


@pytest.mark.parametrize("name", sorted(all_probes()))
def test_the_projects_own_items_are_spread_as_they_are_built(name: str) -> None:
    built = all_probes()[name].build(Request(3))
    if not isinstance(built, Skip):
        assert spread(built) == list(built)


def test_a_folder_that_is_not_there_is_told_whatever_is_asked(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", Path("a\0b"), Path("m" * 5000)):
        mounted = Mounted(folder)
        for ask in (mounted.check, mounted.sha256, lambda it=mounted: it.files(DataSet.RESPONSES)):
            with pytest.raises(ContractError, match=r"no such folder|no folder has such a name"):
                ask()
    assert Mounted().sha256() is None


@pytest.mark.parametrize("name", ["dataset.json", "response.jsonl", "LLMBar/Natural.json", "judgebench.json"])
def test_a_folder_without_any_file_that_is_looked_for_is_told_with_the_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / "items" / name
    path.parent.mkdir(parents=True)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ContractError, match="no file in the folder has a name that is looked for") as error:
        Mounted(tmp_path / "items").check()
    assert error.value.where == str(tmp_path / "items")
    page = (Path(__file__).resolve().parents[2] / "docs" / "probes.md").read_text(encoding="utf-8")
    named = re.findall(r"`([^` ]+\.jsonl?)`", page.partition("| files | format |")[2].partition("\n\n")[0])
    assert len(named) == 9
    assert all(each.replace("PART", "*") in error.value.remedy for each in named)


@pytest.mark.parametrize(
    "name",
    [
        "LLMBar/Adversarial/Manual/dataset.json",
        "llmbar_Natural.json",
        "dataset=judgebench,response_model=m.jsonl",
        "responses-model-a.jsonl",
        "refinements.jsonl",
    ],
)
def test_one_file_of_any_data_set_anywhere_below_is_something_to_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "far" / "below" / name
    path.parent.mkdir(parents=True)
    path.touch()
    Mounted(tmp_path).check()
    assert [mine for data in DataSet for mine in Mounted(tmp_path).files(data)] == [path]


@pytest.mark.parametrize("question", ["question.jsonl", "mtbench_question.jsonl"])
@pytest.mark.parametrize("reference", ["reference_answer/gpt-4.jsonl", "mtbench_reference_gpt-4.jsonl"])
def test_half_of_mtbench_is_nothing_to_read_and_both_are(tmp_path: Path, question: str, reference: str) -> None:
    for number, (there, missing) in enumerate([(question, "reference_answer/*.jsonl"), (reference, "question.jsonl")]):
        path = tmp_path / str(number) / there
        path.parent.mkdir(parents=True)
        path.touch()
        with pytest.raises(ContractError, match="of MT-Bench alone, of which nothing can be asked") as error:
            Mounted(tmp_path / str(number)).check()
        assert missing in error.value.remedy
    Mounted(tmp_path).check()
    # Beside items of another data set a half is left alone: its name may be anybody's.
    (tmp_path / "0" / "responses.jsonl").touch()
    Mounted(tmp_path / "0").check()


def test_what_lies_in_the_folder_decides_its_hash_and_a_pipe_is_refused(tmp_path: Path) -> None:
    before = Mounted(tmp_path).sha256()
    (tmp_path / "responses.jsonl").write_text("{}")
    assert Mounted(tmp_path).sha256() != before
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(ContractError, match="neither a file nor a real folder"):
        Mounted(tmp_path).sha256()
