import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.data.verif_rows import read_verif_rows
from components.judge.rule import Rule
from components.judge.verdict import Criterion

COMMAS = "def check_following(instruction, response):\n    return ',' not in response\n"
ASKS = "def check_following(instruction, response):\n    return llm_score(instruction, response, 'Tone: Be kind.')\n"
CHECKERS = ["[llm] Tone: Keep a friendly tone.", "[rule] Punctuation: Use no commas.", "[llm] Content: Name the river."]
FUNCTIONS = [ASKS, COMMAS, ASKS]
TONE = Criterion("Tone: Keep a friendly tone.", 1.0, "llm", ("checker:llm", "category:Tone"))
RIVER = Criterion("Content: Name the river.", 1.0, "llm", ("checker:llm", "category:Content"))
RULE_TAGS = ("checker:rule", "category:Punctuation")
NO_COMMA = Criterion("Punctuation: Use no commas.", 1.0, "rule", RULE_TAGS, Rule("python", (("function", COMMAS),)))


def plain(checkers=CHECKERS, functions=FUNCTIONS, **more):
    return {"id": 7, "prompt": "Write about a town.", "checkers": checkers, "functions": functions, **more}


def packed(**more):
    truth = json.dumps({"checkers": CHECKERS, "functions": FUNCTIONS})
    return {
        "data_source": "verif",
        "prompt": [{"role": "user", "content": "Write about a town."}],
        "ability": "if",
        "reward_model": {"style": "rm", "ground_truth": truth},
        "extra_info": {"split": "train", "index": 0},
        **more,
    }


def read(*rows, **settings):
    return read_verif_rows("\n".join(json.dumps(row) for row in rows).encode(), source="v.jsonl", **settings)


def lines(row, **settings):
    (found,) = read(row, **settings)
    return found.item.criteria


@pytest.mark.parametrize("row", [plain(), packed()])
def test_both_forms_give_the_same_lines(row):
    (found,) = read(row)
    assert found.item.criteria == (TONE, NO_COMMA, RIVER)
    assert (found.item.question, found.item.turns, found.item.gold) == ("Write about a town.", (), None)
    assert found.counts["soft_checkers"] == 2
    assert found.counts["rule_checkers"] == 1


def test_parquet_of_both_forms_is_read_alike():
    for row in (plain(), packed()):
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([row]), stream)
        (found,) = read_verif_rows(stream.getvalue(), source="v.parquet")
        assert found.item == read(row)[0].item


def test_all_constraints_to_the_judge_runs_nothing():
    found = lines(plain(), constraints="all_to_judge")
    assert found == (TONE, Criterion("Punctuation: Use no commas.", 1.0, "llm", RULE_TAGS), RIVER)


def test_soft_only_leaves_rules_out_and_counts_them():
    (found,) = read(plain(), constraints="soft_only")
    assert found.item.criteria == (TONE, RIVER)
    assert found.counts["rule_checkers_left_out"] == 1


@pytest.mark.parametrize(
    ("constraints", "texts", "rules"),
    [
        ("own", ["Tone: Keep a friendly tone.", "Content: Name the river.", "Punctuation: Use no commas."], 1),
        ("all_to_judge", ["Tone: Keep a friendly tone.", "Punctuation: Use no commas.", "Content: Name the river."], 0),
        ("soft_only", ["Tone: Keep a friendly tone.", "Content: Name the river."], 0),
    ],
)
def test_a_derived_rubric_has_the_judges_lines_first(constraints, texts, rules):
    found = lines(plain(), constraints=constraints, derive=True)
    assert [line.text for line in found] == texts
    assert sum(line.verifier == "rule" for line in found) == rules


def test_a_numbered_checker_is_one_line_whole_and_two_lines_derived():
    row = plain(["[llm] Content: 1. Name the river well. 2. Name the bridge well."], [ASKS])
    assert [line.text for line in lines(row)] == ["Content: 1. Name the river well. 2. Name the bridge well."]
    assert [line.text for line in lines(row, derive=True)] == ["Name the river well.", "Name the bridge well."]


def test_a_row_of_rules_alone_has_lines_for_the_sandbox_or_for_the_judge_and_else_is_refused():
    row = plain(["[rule] Punctuation: Use no commas."], [COMMAS])
    assert [line.verifier for line in lines(row)] == ["rule"]
    assert [line.verifier for line in lines(row, derive=True)] == ["rule"]
    assert [line.verifier for line in lines(row, constraints="all_to_judge")] == ["llm"]
    with pytest.raises(ContractError, match="no constraint that the judge could decide") as caught:
        read(plain(), row, constraints="soft_only")
    assert caught.value.where == "v.jsonl, line 2"
    assert "all_to_judge" in caught.value.remedy


def test_checkers_that_say_the_same_are_merged():
    (found,) = read(plain([*CHECKERS, CHECKERS[1]], [*FUNCTIONS, COMMAS]))
    assert [line.points for line in found.item.criteria] == [1.0, 2.0, 1.0]
    assert found.counts["merged_criteria"] == 1
    other = COMMAS.replace("','", "';'")
    assert len(lines(plain([*CHECKERS, CHECKERS[1]], [*FUNCTIONS, other]))) == 4


def test_functions_that_can_never_decide_are_counted():
    (found,) = read(plain(functions=[ASKS, "def other(: broken", ASKS]))
    assert found.counts["functions_without_check_following"] == 1


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (plain(functions=FUNCTIONS[:2]), "3 checkers and 2 functions"),
        (plain([], []), "no constraint"),
        (plain(["Tone: be kind"], [ASKS]), "is not [llm] or [rule]"),
        (plain(["[rule] Digit: 3 words."], [" "]), "is empty"),
        (plain(functions=[None, None, None]), "key 'functions'"),
        (plain(functions="def"), "key 'functions'"),
        ({"prompt": "Hello."}, "key 'checkers'"),
        (packed(reward_model={"ground_truth": "no JSON"}), "key 'checkers'"),
        (packed(reward_model=None), "key 'checkers'"),
        (plain(prompt=""), "turn 1 is empty"),
        (plain(prompt=None), "must be a text or a list"),
        (packed(prompt=[{"role": "assistant", "content": "Yes."}]), "the assistant's"),
    ],
)
def test_a_bad_row_is_named_with_a_remedy(bad, what):
    with pytest.raises(ContractError) as caught:
        read(plain(), bad)
    assert what in caught.value.what
    assert caught.value.where == "v.jsonl, line 2"
    assert caught.value.remedy


CHECKS = st.lists(
    st.tuples(st.sampled_from(["llm", "rule"]), st.text(st.sampled_from("abc :.;1"), min_size=1, max_size=30)),
    min_size=1,
    max_size=8,
)


@given(checks=CHECKS, constraints=st.sampled_from(["own", "all_to_judge", "soft_only"]), derive=st.booleans())
def test_who_decides_follows_from_the_option_alone(checks, constraints, derive):
    row = plain([f"[{kind}] {text}" for kind, text in checks], [COMMAS] * len(checks))
    try:
        (found,) = read(row, constraints=constraints, derive=derive)
    except ContractError:
        return
    rules = {" ".join(text.split()) for kind, text in checks if kind == "rule"}
    decided_by_rule = {" ".join(line.text.split()) for line in found.item.criteria if line.verifier == "rule"}
    assert decided_by_rule == (rules if constraints == "own" else set())
    assert all(line.points > 0 for line in found.item.criteria)
    if not derive and constraints != "soft_only":
        assert sum(line.points for line in found.item.criteria) == len(checks)
