import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.data.jsonl import read_jsonl
from components.gold.checks import GoldChecks
from components.judge.rule import Rule
from components.judge.verdict import Criterion

CRITERIA = {"criteria": [{"text": "is polite", "points": 2}]}
GOOD = {"prompt": "Write about rain.", "criteria": [{"text": "is polite", "points": 2}]}


def read(*rows: object, **defaults):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return read_jsonl("\n".join(lines).encode(), source="mine.jsonl", **defaults)


def test_a_row_is_read_with_all_it_says():
    row = {
        "question": " Write about rain. ",
        "criteria": [
            {"text": "is polite", "points": 2, "tags": ["axis:tone"]},
            {
                "text": "is long",
                "points": -1,
                "verifier": "rule",
                "rule": {"name": "word_count_range", "min_count": 90, "max_count": 99},
            },
        ],
        "gold": {"word_list": "animals", "min_words": 3, "constraints": [{"id": "punctuation:no_comma"}]},
        "template": "weather",
    }
    (item,) = read(row)
    assert item.question == "Write about rain."
    assert item.template == "weather"
    assert item.criteria == (
        Criterion("is polite", 2.0, "llm", ("axis:tone",)),
        Criterion("is long", -1.0, "rule", rule=Rule("word_count_range", (("max_count", 99), ("min_count", 90)))),
    )
    assert item.gold == GoldChecks("animals", 3, 10_000, True, (("punctuation:no_comma", {}),))


def test_the_experiment_fills_in_what_rows_leave_out():
    defaults = {"criteria": (Criterion("is short"),), "gold": GoldChecks("foods")}
    bare, full = read({"prompt": "one"}, {**GOOD, "gold": {}}, **defaults)
    assert (bare.criteria, bare.gold) == ((Criterion("is short"),), GoldChecks("foods"))
    assert (full.criteria, full.gold) == ((Criterion("is polite", 2.0),), GoldChecks())


def test_blank_lines_byte_order_mark_and_line_separators_are_taken():
    strange = json.dumps({**GOOD, "prompt": "a\u2028b\u0085c"}, ensure_ascii=False)
    content = "\ufeff\n" + strange + "\r\n\n" + json.dumps(GOOD) + "\n"
    items = read_jsonl(content.encode(), source="mine.jsonl")
    assert [item.question for item in items] == ["a\u2028b\u0085c", "Write about rain."]


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ([], None, "no prompts"),
        (["", "  "], None, "no prompts"),
        ([GOOD, "{'prompt': 1}"], 2, "not JSON"),
        ([GOOD, "[" * 100_000], 2, "nested|not JSON"),
        (["[1]"], 1, "expected a JSON object, got list"),
        ([{**GOOD, "criterai": []}], 1, "unknown key 'criterai'"),
        ([{"criteria": GOOD["criteria"]}], 1, "prompt"),
        ([{**GOOD, "question": "x"}], 1, "not both"),
        ([{**GOOD, "prompt": " "}], 1, "not empty"),
        ([{**GOOD, "prompt": ["x"]}], 1, "must be a text"),
        ([GOOD, "", {**GOOD, "prompt": "Write  about rain. "}], 3, "same as in line 1"),
        ([{"prompt": "x"}], 1, "'criteria': missing"),
        ([{"prompt": "x", "criteria": []}], 1, "list that is not empty"),
        ([{"prompt": "x", "criteria": ["polite"]}], 1, "expected an object"),
        ([{"prompt": "x", "criteria": [{"text": ""}]}], 1, "'text'"),
        ([{"prompt": "x", "criteria": [{"text": "a", "points": -1}]}], 1, "positive points"),
        ([{"prompt": "x", "criteria": [{"text": "a", "points": 0}]}], 1, "'points'"),
        ([{"prompt": "x", "criteria": [{"text": "a", "points": "1"}]}], 1, "'points'"),
        ([{"prompt": "x", "criteria": [{"text": "a", "points": True}]}], 1, "'points'"),
        (['{"prompt": "x", "criteria": [{"text": "a", "points": NaN}]}'], 1, "'points'"),
        (['{"prompt": "x", "criteria": [{"text": "a", "points": 1' + "0" * 400 + "}]}"], 1, "'points'"),
        ([{"prompt": "x", "criteria": [{"text": "a", "weight": 1}]}], 1, "unknown key 'weight'"),
        ([{"prompt": "x", "criteria": [{"text": "a", "verifier": "me"}]}], 1, "'verifier'"),
        ([{"prompt": "x", "criteria": [{"text": "a", "tags": "t"}]}], 1, "'tags'"),
        ([{"prompt": "x", "criteria": [{"text": "a"}, {"text": "a "}]}], 1, "twice"),
        ([{"prompt": "x", "criteria": [{"text": "a b"}, {"text": "a  b"}]}], 1, "twice"),
        ([{"prompt": "half \ud800", "criteria": [{"text": "a"}]}], 1, "no character"),
        ([{"prompt": "x", "criteria": [{"text": "half \ud800"}]}], 1, "no character"),
        ([{"prompt": "x", "criteria": [{"text": "a", "tags": ["half \ud800"]}]}], 1, "no character"),
        ([{"prompt": "x", "template": "half \ud800", "criteria": [{"text": "a"}]}], 1, "no character"),
        ([{**GOOD, "gold": {"word_list": "half \ud800"}}], 1, "no character"),
        ([{**GOOD, "template": 3}], 1, "'template'"),
        ([{**GOOD, "gold": []}], 1, "gold: expected an object"),
        ([{**GOOD, "gold": {"words": 3}}], 1, "unknown key 'words'"),
        ([{**GOOD, "gold": {"min_words": 5, "max_words": 4}}], 1, "min <= max"),
        ([{**GOOD, "gold": {"min_words": True}}], 1, "whole numbers"),
        ([{**GOOD, "gold": {"echo": "yes"}}], 1, "echo"),
        ([{**GOOD, "gold": {"word_list": ""}}], 1, "word_list"),
        ([{**GOOD, "gold": {"constraints": [{"id": "no:such"}]}}], 1, "unknown constraint 'no:such'"),
        ([{**GOOD, "gold": {"constraints": [{"kwargs": {}}]}}], 1, "id and kwargs"),
        ([{**GOOD, "gold": {"constraints": [{"id": "punctuation:no_comma", "kwargs": {"n": 1}}]}}], 1, "unknown"),
    ],
)
def test_every_mistake_names_line_and_remedy(rows, line, message):
    with pytest.raises(ContractError, match=message) as caught:
        read(*rows)
    assert caught.value.where.startswith("mine.jsonl" if line is None else f"mine.jsonl, line {line}")
    assert caught.value.remedy or "constraint" in message


def test_a_rule_and_the_judge_may_decide_lines_of_one_text():
    rule = {"name": "word_count_range", "min_count": 1, "max_count": 3}
    ruled = {"text": "short", "verifier": "rule", "rule": rule}
    other = ruled | {"rule": rule | {"max_count": 4}}
    (item,) = read({"prompt": "x", "criteria": [ruled, {"text": "short"}, other]})
    assert [line.verifier for line in item.criteria] == ["rule", "llm", "rule"]


def test_other_encodings_are_refused():
    with pytest.raises(ContractError, match="not UTF-8"):
        read_jsonl(json.dumps({"prompt": "é"}, ensure_ascii=False).encode("latin-1"), source="mine.jsonl")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "prompt": JSON,
        "question": JSON,
        "template": JSON,
        "criteria": JSON | st.lists(st.fixed_dictionaries({"text": JSON}, optional={"points": JSON, "tags": JSON})),
        "gold": JSON | st.fixed_dictionaries({}, optional={"word_list": JSON, "min_words": JSON, "constraints": JSON}),
    },
)


@given(
    content=st.binary() | st.lists(ROWS | JSON, max_size=3).map(lambda rows: "\n".join(map(json.dumps, rows)).encode())
)
def test_whatever_comes_is_read_or_refused_with_the_place(content):
    refused = None
    try:
        items = read_jsonl(content, source="mine.jsonl")
    except ContractError as error:
        refused = error
    assert refused.where.startswith("mine.jsonl") if refused else all(item.question and item.criteria for item in items)


def test_messages_are_a_conversation():
    turns = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": " Write about rain. "},
    ]
    (item,) = read({"messages": turns, "criteria": GOOD["criteria"]})
    assert [turn.content for turn in item.turns] == ["Hello.", "Yes?", "Write about rain."]
    assert item.question.endswith("Turn 3, user:\n    Write about rain.")
    (alone,) = read({"messages": turns[2:], "criteria": GOOD["criteria"]})
    assert (alone, alone.turns) == (read(GOOD)[0], ())
    assert alone.id(None) == read(GOOD)[0].id(None)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ("Hello.", "must be a text or a list of turns"),
        ([], "must be a text or a list of turns"),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "the assistant's"),
        ([{"role": "user"}], "turn 1 is empty"),
    ],
)
def test_bad_messages_are_refused(messages, message):
    with pytest.raises(ContractError, match=message) as caught:
        read({"messages": messages, "criteria": GOOD["criteria"]})
    assert "'messages'" in caught.value.what


def test_one_question_under_two_system_turns_is_two_prompts():
    rows = [
        {"messages": [{"role": "system", "content": text}, {"role": "user", "content": "Go."}], **CRITERIA}
        for text in ("Rhyme.", "Be brief.")
    ]
    one, other = read(*rows)
    assert one.question == other.question == "Go."
    assert one.id(None) != other.id(None)
    # A row's own system turn counts as the policy's would.
    (bare,) = read({"prompt": "Go.", **CRITERIA})
    assert bare.id("Rhyme.") == one.id(None)
    with pytest.raises(ContractError, match="the same as in line 1"):
        read(rows[0], rows[0])


def test_a_row_may_refuse_the_experiments_gold():
    kept, refused = read(GOOD, {**GOOD, "prompt": "two", "gold": None}, gold=GoldChecks("foods"))
    assert (kept.gold, refused.gold) == (GoldChecks("foods"), None)
    assert refused.gold_json() == "null"


def test_ids_of_single_prompts_do_not_move():
    # Written down before prompts could have several turns.
    item = read({**GOOD, "gold": {"word_list": "animals"}})[0]
    content = [
        "Be brief.",
        "Write about rain.",
        '[{"points":2.0,"tags":[],"text":"is polite","verifier":"llm"}]',
        '{"constraints":[],"echo":true,"max_words":10000,"min_words":1,"word_list":"animals"}',
    ]
    expected = hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
    assert item.id("Be brief.") == expected


def test_all_mistakes_are_told_at_once():
    bad = [{**GOOD, "prompt": str(number), "criteria": []} for number in range(11)]
    with pytest.raises(ContractError) as caught:
        read(GOOD, "no JSON", GOOD, *bad)
    told = caught.value.what.split("\n")
    assert told[0] == "13 of 14 rows cannot be used:"
    assert told[1].startswith("  line 2: not JSON")
    assert told[2] == "  line 3: the prompt is the same as in line 1"
    assert told[-1] == "  and 3 more"
