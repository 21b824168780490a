"""Golds as text, and what cannot be one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ConfigError, ContractError
from components.tasks.gold import CodeGold, MathGold, QaGold, parse_gold, to_json
from components.tasks.sets import DATASETS, OFFICIAL, domain

texts = st.text(max_size=20)
solid = texts.filter(str.strip)
facts = st.lists(st.tuples(texts, st.integers(0, 50)), max_size=3).map(tuple)
golds = st.one_of(
    st.builds(MathGold, st.sampled_from(["gsm8k", "math", "custom_math"]), solid),
    st.builds(QaGold, st.sampled_from(["squad2", "custom_qa"]), st.lists(texts, max_size=3).map(tuple)),
    st.builds(QaGold, st.just("hotpotqa"), st.tuples(texts), facts),
    st.builds(
        CodeGold, st.sampled_from(["humaneval", "mbpp"]), texts, st.none() | texts, solid, setup=texts, helpers=texts
    ),
)


@given(gold=golds)
def test_a_gold_comes_back_as_it_was(gold):
    text = to_json(gold)
    assert parse_gold(text, "row 1") == gold
    assert to_json(parse_gold(text)) == text
    assert text.isascii()


def test_the_text_is_canonical():
    gold = CodeGold("mbpp", "Write it.", None, "assert f(1)", setup="x = 1")
    shown = '{"dataset":"mbpp","entry_point":null,"prompt":"Write it.","setup":"x = 1","tests":"assert f(1)"}'
    assert to_json(gold) == shown
    assert to_json(QaGold("squad2", ())) == '{"answers":[],"dataset":"squad2"}'


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "must be an object"),
        ("{}", "no data set is named None"),
        ('{"dataset": "drop", "answer": "1"}', "no data set is named 'drop'"),
        ('{"dataset": "math"}', "lacks 'answer'"),
        ('{"dataset": "math", "answer": "1", "answer": "2"}', "'answer' twice"),
        ('{"dataset": "math", "answer": " "}', "blank"),
        ('{"dataset": "math", "answer": 1}', "'answer' must be a text"),
        ('{"dataset": "math", "answer": "1", "solution": "x"}', "no key is named 'solution'"),
        ('{"dataset": "squad2", "answers": "Paris"}', "list of texts"),
        ('{"dataset": "squad2", "answers": [1]}', "list of texts"),
        ('{"dataset": "squad2", "answers": [], "supporting": [["a", 0]]}', "supporting facts for squad2"),
        ('{"dataset": "hotpotqa", "answers": []}', "0 gold answers"),
        ('{"dataset": "hotpotqa", "answers": ["x"], "supporting": [["a", -1]]}', "number of the sentence"),
        ('{"dataset": "hotpotqa", "answers": ["x"], "supporting": [["a", true]]}', "number of the sentence"),
        ('{"dataset": "humaneval", "prompt": "", "entry_point": "f", "tests": ""}', "no tests"),
    ],
)
def test_what_is_no_gold_is_refused_with_its_place(text, what):
    with pytest.raises(ContractError) as caught:
        parse_gold(text, "rows.jsonl, row 7")
    assert what in caught.value.what
    assert caught.value.where == "rows.jsonl, row 7"


def test_a_gold_of_another_domain_cannot_be_made():
    with pytest.raises(ContractError, match="no data set of domain math"):
        MathGold("mbpp", "1")


def test_the_official_sets():
    # The publications: sizes of the official files.
    assert OFFICIAL == ("gsm8k", "math", "squad2", "hotpotqa", "humaneval", "mbpp")
    assert [sum(DATASETS[name].sizes.values()) for name in OFFICIAL] == [8792, 12500, 142192, 97852, 164, 974]
    assert [domain(name) for name in DATASETS] == ["math", "math", "qa", "qa", "code", "code", "math", "qa", "code"]
    assert [name for name in DATASETS if not DATASETS[name].trained] == ["humaneval"]
    with pytest.raises(ConfigError, match="custom_math"):
        domain("gsm9k")


def test_equal_golds_have_one_text_whatever_the_order_of_keys():
    one = {"dataset": "squad2", "answers": ["a", "b"]}
    other = dict(reversed(list(one.items())))
    assert to_json(parse_gold(json.dumps(one))) == to_json(parse_gold(json.dumps(other)))
