"""Prompts, responses, corrections, totals and the command."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import ConfigError, ContractError
from components.score.ifeval import patterns, sentences
from components.score.ifeval.__main__ import main
from components.score.ifeval.corrections import Corrections
from components.score.ifeval.prompts import read_prompts
from components.score.ifeval.registry import CHECKS
from components.score.ifeval.responses import read_responses, without_reasoning
from components.score.ifeval.score import score_files

OFFICIAL = Path(__file__).parents[4] / "shared" / "data" / "ifeval_input_data.jsonl"
needs_official = pytest.mark.skipif(not OFFICIAL.is_file(), reason="the official IFEval file is not beside the tree")
COUNTS = {
    "change_case:capital_word_frequency": 25,
    "change_case:english_capital": 25,
    "change_case:english_lowercase": 39,
    "combination:repeat_prompt": 41,
    "combination:two_responses": 24,
    "detectable_content:number_placeholders": 27,
    "detectable_content:postscript": 26,
    "detectable_format:constrained_response": 10,
    "detectable_format:json_format": 17,
    "detectable_format:multiple_sections": 14,
    "detectable_format:number_bullet_lists": 31,
    "detectable_format:number_highlighted_sections": 48,
    "detectable_format:title": 37,
    "keywords:existence": 39,
    "keywords:forbidden_words": 49,
    "keywords:frequency": 42,
    "keywords:letter_frequency": 33,
    "language:response_language": 31,
    "length_constraints:nth_paragraph_first_word": 12,
    "length_constraints:number_paragraphs": 27,
    "length_constraints:number_sentences": 52,
    "length_constraints:number_words": 52,
    "punctuation:no_comma": 66,
    "startend:end_checker": 26,
    "startend:quotation": 41,
}
"""Instructions of each type in the official file."""

COMMA = ("punctuation:no_comma", {})
QUOTED = ("startend:quotation", {})
CORRECTED_ROW = ("keywords:letter_frequency", {"let_relation": "less than", "letter": "o", "let_frequency": 6})


def prompt(key: Any, *pairs: tuple[str, dict[str, Any]], text: str | None = None) -> dict[str, Any]:
    return {
        "key": key,
        "prompt": f"prompt {key}" if text is None else text,
        "instruction_id_list": [kind for kind, _ in pairs],
        "kwargs": [kwargs for _, kwargs in pairs],
    }


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    return written(tmp_path / "prompts.jsonl", prompt(1, COMMA), prompt(2, COMMA, QUOTED), prompt(3, QUOTED))


@needs_official
def test_official_file_has_541_prompts_and_834_instructions() -> None:
    rows = read_prompts(OFFICIAL)
    assert len(rows) == 541
    assert Counter(kind for row in rows for kind in row.kinds) == COUNTS
    assert sum(COUNTS.values()) == 834
    assert Counter(len(row.kinds) for row in rows) == {1: 305, 2: 179, 3: 57}
    assert set(COUNTS) == set(CHECKS)


@needs_official
def test_corrections_fit_the_official_file() -> None:
    corrections = Corrections.read()
    plain = {row.key: row for row in read_prompts(OFFICIAL)}
    mended = {row.key: row for row in read_prompts(OFFICIAL, corrections)}
    assert sorted(corrections.applied) == [30, 337, 1174, 2078]
    changed = {key for key in plain if plain[key].kinds != mended[key].kinds}
    assert changed == {30, 2078}
    assert Counter(mended[30].kinds)["startend:quotation"] == 1
    assert "change_case:english_lowercase" in mended[30].kinds
    assert mended[2078].kinds == ()
    assert mended[337].checks[0].bound.count == 400  # type: ignore[attr-defined]
    assert mended[1174].checks[0].bound.relation == "at least"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"prompt": "p"}, "key cannot be None"),
        ({"key": True, "prompt": "p"}, "key cannot be True"),
        ({"key": 1, "prompt": " "}, "prompt cannot be"),
        ({"key": 1, "prompt": "p", "instruction_id_list": []}, "instruction_id_list cannot be"),
        ({"key": 1, "prompt": "p", "instruction_id_list": ["punctuation:no_comma"]}, "kwargs is not a list"),
        (prompt(1, COMMA) | {"kwargs": [{}, {}]}, "1 instructions, but 2 kwargs"),
        (prompt(1, ("punctuation:none", {})), "unknown instruction"),
        (prompt(1, ("length_constraints:number_words", {"relation": "at least"})), "'num_words' is missing"),
        (prompt(0, COMMA), "stands in an earlier row"),
        (prompt(1, COMMA, text="prompt 0"), "stands in an earlier row"),
        ([1], "not a JSON object"),
    ],
)
def test_wrong_prompts_say_where(row: Any, what: str, tmp_path: Path) -> None:
    path = written(tmp_path / "prompts.jsonl", prompt(0, COMMA), row)
    with pytest.raises(ContractError, match=what) as caught:
        read_prompts(path)
    assert "line 2" in caught.value.where
    assert caught.value.remedy


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_prompts(tmp_path / "none.jsonl")
    (tmp_path / "bad.jsonl").write_bytes(b'{"key": 1}\xff\n')
    with pytest.raises(ContractError, match="not JSON"):
        read_prompts(tmp_path / "bad.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(ContractError, match="there is no prompt"):
        read_prompts(tmp_path / "empty.jsonl")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"key": 1, "response": ' + "[" * 100_000, "nested too deep"),
        ('{"key": 1, "response": "half \\ud800"}', "'.ud800', which is no character"),
        ('{"key": 1, "response": "a", "more": {"\\udfff": 1}}', "which is no character"),
        ('{"key": true, "response": "a"}', "no prompt with key True"),
        ('{"key": false, "response": "a"}', "no prompt with key False"),
    ],
)
def test_a_line_that_nothing_can_be_made_of_is_named(line: str, what: str, tmp_path: Path, capsys: Any) -> None:
    prompts = written(tmp_path / "p.jsonl", prompt(0, COMMA), prompt(1, COMMA))
    (tmp_path / "r.jsonl").write_text('{"key": 0, "response": "a"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(ContractError, match=what) as caught:
        read_responses(tmp_path / "r.jsonl", read_prompts(prompts), allow_missing=True)
    assert "r.jsonl, line 2" in caught.value.where
    files = ["--prompts", str(prompts), "--responses", str(tmp_path / "r.jsonl"), "--output", str(tmp_path / "o")]
    assert main(files) == 1
    assert "r.jsonl, line 2" in capsys.readouterr().err


def test_whole_surrogate_pairs_are_characters(tmp_path: Path) -> None:
    prompts = written(tmp_path / "p.jsonl", prompt(1, COMMA))
    (tmp_path / "r.jsonl").write_text('{"key": 1, "response": "\\ud83d\\ude00"}', encoding="ascii")
    assert read_responses(tmp_path / "r.jsonl", read_prompts(prompts))[0][0].text == "\U0001f600"


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    prompts, responses = tmp_path / "p.jsonl", tmp_path / "r.jsonl"
    prompts.write_text(json.dumps(prompt(1, COMMA)) + "\n" + json.dumps(prompt(2, COMMA)), encoding="utf-8-sig")
    responses.write_text('{"key": 1, "response": "a"}\n{"key": 2, "response": "a, b"}\n', encoding="utf-8-sig")
    assert score_files(prompts, responses)[1]["Pr_S"] == 0.5
    (tmp_path / "late.jsonl").write_bytes(b'{"key": 1, "response": "a"}\n\xef\xbb\xbf{"key": 2, "response": "a"}')
    with pytest.raises(ContractError, match="not JSON"):
        read_responses(tmp_path / "late.jsonl", read_prompts(prompts))


@pytest.mark.parametrize(
    "pair",
    [
        ("keywords:existence", {"keywords": ["(a|a)*$"]}),
        ("keywords:forbidden_words", {"forbidden_words": ["(a+)+!"]}),
        ("keywords:frequency", {"keyword": "(a+)+$", "frequency": 1, "relation": "at least"}),
        ("keywords:existence", {"keywords": ["(a|a)" * 40 + "$"]}),
        ("detectable_content:postscript", {"postscript_marker": "(a+)+$"}),
        ("detectable_format:multiple_sections", {"section_spliter": "(a+)+!", "num_sections": 1}),
    ],
)
def test_a_keyword_that_never_ends_is_named_and_no_number(
    pair: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 1.0)
    prompts = written(tmp_path / "p.jsonl", prompt(6, COMMA), prompt(7, COMMA, pair))
    responses = written(tmp_path / "r.jsonl", {"key": 6, "response": "a"}, {"key": 7, "response": "a" * 60 + "b"})
    files = ["--prompts", str(prompts), "--responses", str(responses), "--output", str(tmp_path / "out")]
    assert main(files) == 1
    error = capsys.readouterr().err
    assert "instruction 1 (from 0) takes too long to check on a response of 61 characters" in error
    assert "r.jsonl, key 7" in error
    assert not (tmp_path / "out").exists()


def test_what_nltk_does_not_end_is_named_and_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(text: str) -> list[str]:
        raise TimeoutError("regular-expression match exceeded its 5.0s time limit")

    monkeypatch.setattr(sentences, "split", slow)
    count = ("length_constraints:number_sentences", {"num_sentences": 1, "relation": "at least"})
    prompts = written(tmp_path / "p.jsonl", prompt("k", count))
    responses = written(tmp_path / "r.jsonl", {"key": "k", "response": "One. Two."})
    with pytest.raises(ContractError, match=r"instruction 0 .* response of 9 characters") as caught:
        score_files(prompts, responses)
    assert caught.value.where.endswith("r.jsonl, key k")


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        ("keywords:existence", {"keywords": ["(" * 5000 + ")" * 5000]}),
        ("keywords:forbidden_words", {"forbidden_words": ["(?i)cat"]}),
        ("detectable_format:multiple_sections", {"section_spliter": "(?i)part", "num_sections": 1}),
        ("detectable_content:postscript", {"postscript_marker": "[Z-a]"}),
    ],
)
def test_a_word_that_is_no_pattern_is_named(kind: str, kwargs: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"regular expression|cannot be") as caught:
        read_prompts(written(tmp_path / "p.jsonl", prompt(1, (kind, kwargs))))
    assert f"line 1, key 1, {kind}" in caught.value.where


def test_nulls_of_hub_copies_are_dropped(tmp_path: Path) -> None:
    padded = ("punctuation:no_comma", {"num_words": None, "relation": None})
    assert read_prompts(written(tmp_path / "p.jsonl", prompt(1, padded)))[0].kinds == ("punctuation:no_comma",)


def test_responses_join_by_prompt_or_key(prompts: Path, tmp_path: Path) -> None:
    path = written(
        tmp_path / "responses.jsonl",
        {"key": 3, "response": "c"},
        {"prompt": "prompt 1", "response": "a"},
        {"key": 2, "prompt": "prompt 2", "response": ["b", "bb"], "more": 1},
    )
    found = read_responses(path, read_prompts(prompts))
    assert [[one.text for one in answers] for answers in found] == [["a"], ["b", "bb"], ["c"]]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"prompt": "prompt 1 ", "response": "a"}, "no such prompt: 'prompt 1 '"),
        ({"key": 9, "response": "a"}, "no prompt with key 9"),
        ({"key": 2, "prompt": "prompt 3", "response": "a"}, "not that of key 2"),
        ({"response": "a"}, "neither prompt nor key"),
        ({"key": 1, "response": "again"}, "a second row for key 1"),
        ({"key": 2, "response": None}, "neither a text nor a list"),
        ({"key": 2, "response": []}, "neither a text nor a list"),
        ({"key": 2, "response": "a"}, "1 of 3 prompts have no response, the first with key 3"),
    ],
)
def test_responses_that_do_not_fit_raise(row: Any, what: str, prompts: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "responses.jsonl", {"key": 1, "response": "a"}, row)
    with pytest.raises(ContractError, match=what) as caught:
        read_responses(path, read_prompts(prompts))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("raw", "text", "reasoned", "unfinished"),
    [
        (" plain, as it is\n", " plain, as it is\n", False, False),
        ("<think>a, b</think>\n\nanswer", "answer", True, False),
        ("a, b</think>\nanswer", "answer", True, False),
        ("<think>a, b and no end", "", True, True),
        ("<think></think>", "", True, False),
    ],
)
def test_reasoning_is_no_answer(raw: str, text: str, reasoned: bool, unfinished: bool) -> None:
    found = without_reasoning(raw)
    assert (found.text, found.reasoned, found.unfinished) == (text, reasoned, unfinished)


def test_totals_by_hand(prompts: Path, tmp_path: Path) -> None:
    path = written(
        tmp_path / "responses.jsonl",
        {"key": 1, "response": ["a", "a, b"]},  # followed by one of two samples, strictly and loosely
        {"key": 2, "response": 'Sure, so:\n"<think>"'},  # reasoning that never ends: nothing
        {"key": 3, "response": 'Here:\n"c"'},  # loosely alone
    )
    scored, summary = score_files(prompts, path)
    assert len(scored) == 3
    # Pr: 1/2, 0, 0 and 1/2, 0, 1 of 3 prompts; Ins: 1/2, 0, 0, 0 and 1/2, 0, 0, 1 of 4 instructions.
    assert (summary["Pr_S"], summary["Ins_S"]) == (pytest.approx(0.5 / 3), pytest.approx(0.5 / 4))
    assert (summary["Pr_L"], summary["Ins_L"]) == (pytest.approx(1.5 / 3), pytest.approx(1.5 / 4))
    # Sample variances of those: 1/12 and 1/4.
    assert summary["Pr_S_standard_error"] == pytest.approx((1 / 12 / 3) ** 0.5)
    assert summary["Pr_L_standard_error"] == pytest.approx((1 / 4 / 3) ** 0.5)
    counts = {"prompts": 3, "instructions": 4, "responses": 4, "reasoning_removed": 1, "no_answer": 1}
    counts |= {"unfinished_reasoning": 1, "missing": 0, "language_not_detected": 0}
    assert {name: summary[name] for name in counts} == counts
    assert summary["by_category"]["startend"] == {"instructions": 2, "strict": 0.0, "loose": 0.5}
    assert summary["by_type"]["punctuation:no_comma"] == {"instructions": 2, "strict": 0.25, "loose": 0.25}
    assert summary["data"] == "as published"


def test_command(prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = prompts.read_bytes()
    responses = written(
        tmp_path / "responses.jsonl",
        {"prompt": "prompt 1", "response": "<think>x</think>é no comma\u2028"},
        {"prompt": "prompt 2", "response": 'Sure:\n"a"'},
    )
    arguments = ["--prompts", str(prompts), "--responses", str(responses), "--output", str(tmp_path / "new" / "out")]
    assert main(arguments) == 1
    assert "--allow-missing" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main([*arguments, "--allow-missing"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split() == ["Pr(S)", "Ins(S)", "Pr(L)", "Ins(L)"]
    assert printed.splitlines()[1].split() == ["33.33", "50.00", "66.67", "75.00"]
    assert "Pr(S) Pr(L) Ins(S) Ins(L)" in printed
    assert "missing 1" in printed
    out = tmp_path / "new" / "out"
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert (summary["Pr_S"], summary["missing"], summary["no_answer"]) == (pytest.approx(1 / 3), 1, 1)
    strict, loose = (
        [json.loads(line) for line in (out / f"eval_results_{name}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
        for name in ("strict", "loose")
    )
    columns = ["prompt", "response", "instruction_id_list", "follow_all_instructions", "follow_instruction_list"]
    assert all(list(row) == columns for row in strict + loose)
    assert [row["follow_instruction_list"] for row in strict] == [[True], [True, False], [False]]
    assert [row["follow_all_instructions"] for row in loose] == [True, True, False]
    assert strict[0]["response"] == "é no comma"
    assert prompts.read_bytes() == before


def test_corrections_are_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    official = written(
        tmp_path / "p.jsonl",
        prompt(1174, CORRECTED_ROW),
        prompt(2078, ("detectable_format:number_bullet_lists", {"num_bullets": 1})),
    )
    responses = written(tmp_path / "r.jsonl", {"key": 1174, "response": "oooooo"}, {"key": 2078, "response": "- a"})
    assert [score_files(official, responses, corrected=one)[1]["Pr_S"] for one in (False, True)] == [0.5, 1.0]
    summary = score_files(official, responses, corrected=True)[1]
    assert (summary["data"], summary["corrected_keys"], summary["prompts"]) == ("corrected", [1174, 2078], 1)
    other = written(tmp_path / "other.jsonl", prompt(1174, COMMA))
    with pytest.raises(ContractError, match="not the one that --corrected mends"):
        score_files(other, responses, corrected=True)
    none = written(tmp_path / "none.jsonl", prompt(1, COMMA))
    arguments = ["--prompts", str(none), "--responses", str(responses), "--output", str(tmp_path), "--corrected"]
    assert main(arguments) == 1
    assert "none of the corrections" in capsys.readouterr().err
