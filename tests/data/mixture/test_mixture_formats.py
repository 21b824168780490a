"""The six official forms and rows of one's own: what is kept, and what is refused."""

import json

import pytest

from components.core.errors import ContractError
from components.data.mixture.formats import competition_math, custom, gsm8k, hotpotqa, humaneval, mbpp, squad2
from components.tasks.gold import CodeGold, MathGold, QaGold


def test_gsm8k_takes_the_number_behind_the_last_marker():
    row = gsm8k.parse({"question": "How many?", "answer": "2*500=<<2*500=1000>>1000\n#### 1,000"}, "train")
    assert (row.gold, row.answer, row.part) == (MathGold("gsm8k", "1,000"), "1,000", "train")
    assert gsm8k.parse({"question": "?", "answer": "a #### b\n#### -5"}, "test").answer == "-5"


@pytest.mark.parametrize("answer", ["42", "#### ", "#### about 3", "####"])
def test_gsm8k_without_a_number_is_refused(answer):
    with pytest.raises(ContractError):
        gsm8k.parse({"question": "?", "answer": answer}, "train")


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        (r"So $\boxed{3}$ or rather $\boxed{\frac{1}{\sqrt{2}}}$.", r"\frac{1}{\sqrt{2}}"),
        (r"\boxed{\left\{1,2\right\}}", r"\left\{1,2\right\}"),
        (r"The answer is $\fbox{7}$.", "7"),
        (r"Thus $\boxed 2$.", "2"),
        (r"Then $\boxed{\text{(A)}}$ .", r"\text{(A)}"),
    ],
)
def test_math_takes_the_last_box(solution, answer):
    row = competition_math.parse({"problem": "p", "solution": solution, "level": "Level ?", "type": "t"}, "train")
    assert row.gold == MathGold("math", answer)


def test_math_without_a_box_is_refused():
    with pytest.raises(ContractError, match="no boxed answer"):
        competition_math.parse({"problem": "p", "solution": r"so 3, \boxed{"}, "train")


def test_a_path_tells_the_official_part_of_a_math_row():
    row = {"problem": "p", "solution": r"\boxed{1}", "unique_id": "test/precalculus/807.json"}
    assert competition_math.parse(row, "train").part == "test"
    assert competition_math.parse({**row, "unique_id": 3}, "train").part == "train"


ARTICLE = {
    "title": "Normans",
    "paragraphs": [
        {
            "context": "They came from Norway.",
            "qas": [
                {
                    "question": "Whence?",
                    "id": "q1",
                    "answers": [{"text": "Norway", "answer_start": 15}, {"text": "Norway", "answer_start": 15}],
                    "is_impossible": False,
                },
                {
                    "question": "Why?",
                    "id": "q2",
                    "answers": [],
                    "plausible_answers": [{"text": "Norway", "answer_start": 15}],
                    "is_impossible": True,
                },
            ],
        }
    ],
}


def test_squad2_keeps_contexts_ids_and_unanswerable_questions(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"version": "v2.0", "data": [ARTICLE]}))
    rows = [squad2.parse(value, "test") for _, value in squad2.read(path, "dev.json")]
    assert [row.official_id for row in rows] == ["q1", "q2"]
    assert [row.gold for row in rows] == [QaGold("squad2", ("Norway",)), QaGold("squad2", ())]
    assert {row.fields["context"] for row in rows} == {"They came from Norway."}
    assert {row.group for row in rows} == {"article Normans"}


def test_squad2_tells_where_a_fault_is(tmp_path):
    broken = {**ARTICLE, "paragraphs": [{"qas": []}, *ARTICLE["paragraphs"]]}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": [ARTICLE, broken], "version": "v2.0"}))
    found = list(squad2.read(path, "dev.json"))
    assert [place for place, value in found if isinstance(value, ContractError)] == [
        "line 1, article 1 (from 0) 'Normans', paragraph 0"
    ]
    assert len(found) == 5
    path.write_text(json.dumps({"version": "v2.0"}))
    assert isinstance(dict(squad2.read(path, "dev.json"))["the whole file"], ContractError)


def test_squad2_rows_of_the_hub_are_read_too():
    value = {"id": "a", "title": "T", "context": "c", "question": "q", "answers": {"text": [], "answer_start": []}}
    assert squad2.parse(value, "train").gold == QaGold("squad2", ())


@pytest.mark.parametrize(("impossible", "answers"), [(True, [{"text": "x"}]), (False, [])])
def test_squad2_answers_that_contradict_the_flag_are_refused(impossible, answers):
    value = {"id": "a", "title": "T", "context": "c", "question": "q", "answers": answers, "is_impossible": impossible}
    with pytest.raises(ContractError):
        squad2.parse(value, "train")


HOTPOT = {
    "_id": "5ab",
    "question": "Which?",
    "answer": "yes",
    "supporting_facts": [["B", 0], ["A", 1]],
    "context": [["A", ["One.", " Two."]], ["B", ["Three."]]],
    "type": "comparison",
    "level": "hard",
}


def test_hotpotqa_keeps_every_paragraph_and_groups_by_titles():
    row = hotpotqa.parse(HOTPOT, "train", facts=False)
    assert row.fields["context"] == "A\nOne. Two.\n\nB\nThree."
    assert (row.gold, row.group) == (QaGold("hotpotqa", ("yes",)), "titles A | B")
    asked = hotpotqa.parse(HOTPOT, "train")
    assert asked.fields["context"] == "A\n[0] One.\n[1] Two.\n\nB\n[0] Three."
    assert asked.gold == QaGold("hotpotqa", ("yes",), (("B", 0), ("A", 1)))


def test_hotpotqa_rows_of_the_hub_are_the_same_rows():
    value = {
        **{key: HOTPOT[key] for key in ("question", "answer")},
        "id": "5ab",
        "supporting_facts": {"title": ["B", "A"], "sent_id": [0, 1]},
        "context": {"title": ["A", "B"], "sentences": [["One.", " Two."], ["Three."]]},
    }
    assert hotpotqa.parse(value, "train") == hotpotqa.parse(HOTPOT, "train")


@pytest.mark.parametrize(
    "change", [{"context": []}, {"context": [["A", "x"]]}, {"supporting_facts": [["A"]]}, {"_id": ""}]
)
def test_hotpotqa_of_another_form_is_refused(change):
    with pytest.raises(ContractError):
        hotpotqa.parse({**HOTPOT, **change}, "train")


def test_humaneval_is_a_test_whatever_file_it_is_in():
    value = {
        "task_id": "HumanEval/0",
        "prompt": "def f(x):\n",
        "entry_point": "f",
        "canonical_solution": "    return x\n",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
    }
    row = humaneval.parse(value, "train")
    assert (row.part, row.official_id, row.solution) == ("test", "HumanEval/0", "def f(x):\n    return x\n")
    assert row.gold == CodeGold("humaneval", "def f(x):\n", "f", value["test"])
    assert "return x" not in json.dumps(dict(row.fields))


@pytest.mark.parametrize(
    ("task_id", "part"), [(1, "train"), (10, "train"), (11, "test"), (510, "test"), (511, "train"), (974, "train")]
)
def test_mbpp_parts_are_ranges_of_ids(task_id, part):
    value = {"text": "Add.", "code": "def f(): pass", "task_id": task_id, "test_list": ["assert f() is None"]}
    assert mbpp.parse(value, "any").part == part


def test_mbpp_sanitized_has_imports_and_shows_its_tests():
    value = {
        "prompt": "Add.",
        "code": "x",
        "task_id": 20,
        "test_imports": ["import math"],
        "test_list": ["assert 1", "assert 2"],
    }
    row = mbpp.parse(value, "any")
    assert isinstance(row.gold, CodeGold)
    assert (row.gold.setup, row.gold.tests) == ("import math", "assert 1\nassert 2")
    assert row.fields["tests"] == "assert 1\nassert 2"
    with pytest.raises(ContractError):
        mbpp.parse({**value, "task_id": 975}, "any")


def test_own_rows_of_three_types():
    assert custom.parse({"problem": "p", "answer": 3, "type": "math"}, "train").gold == MathGold("custom_math", "3")
    boxed = custom.parse({"problem": "p", "answer": r"\boxed{\frac12}", "type": "math"}, "train")
    assert boxed.gold == MathGold("custom_math", r"\frac12")
    for given, answers in (("a", ("a",)), (["a", "b"], ("a", "b")), (None, ()), ([], ())):
        row = custom.parse({"problem": "p", "answer": given, "type": "qa", "context": "c"}, "train")
        assert row.gold == QaGold("custom_qa", answers)
    code = custom.parse({"problem": "p", "type": "code", "tests": ["assert f()", "assert g()"]}, "train")
    assert code.gold == CodeGold("custom_code", "p", None, "assert f()\nassert g()")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"problem": "p", "answer": "x", "type": "code"}, "no 'tests'"),
        ({"problem": "p", "answer": "x", "type": "poem"}, "'type'"),
        ({"problem": "p", "type": "qa"}, "lacks 'answer'"),
        ({"problem": "p", "type": "math", "answer": " "}, "blank"),
        ({"problem": "p", "type": "math", "answer": "1", "contxt": "c"}, "contxt"),
        ({"problem": "p", "type": "math", "answer": r"\boxed{}"}, "box"),
        ({"answer": "1", "type": "math"}, "problem"),
    ],
)
def test_own_rows_of_no_use_are_refused(row, said):
    with pytest.raises(ContractError, match=said):
        custom.parse(row, "train")
