import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.data.reading import collect
from components.data.rubric_rows import read_rubric_rows
from components.data.turns import Turn
from components.judge.rule import Rule
from components.judge.verdict import Criterion

PROMPT = [{"role": "user", "content": "Write about rain."}]


def line(text="The rain is loud.", points=2, **more):
    return {"criterion": text, "points": points, "tags": ["axis:content", "verifier:llm"], **more}


def row(*lines, prompt=PROMPT, **more):
    model = {"style": "rubric", "rubrics": list(lines) or [line()], "ground_truth": ""}
    return {"prompt": prompt, "data_source": "mine", "ability": "a", "reward_model": model, **more}


def read(*rows):
    return read_rubric_rows("\n".join(json.dumps(each) for each in rows).encode(), source="rows.jsonl")


def parquet(*rows, source="rows.parquet"):
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), stream)
    return read_rubric_rows(stream.getvalue(), source=source)


def criteria(*lines):
    (found,) = read(row(*lines))
    return found.item.criteria


def test_a_row_is_read_with_all_it_says():
    (found,) = read(row(line(), line("It blames someone.", -1.5)))
    item = found.item
    assert (item.question, item.template, item.turns, item.gold) == (
        "Write about rain.",
        "Write about rain.",
        (),
        None,
    )
    assert item.criteria == (
        Criterion("The rain is loud.", 2.0, "llm", ("axis:content", "verifier:llm")),
        Criterion("It blames someone.", -1.5, "llm", ("axis:content", "verifier:llm")),
    )
    assert (found.data_source, found.benchmark) == ("mine", None)


def test_the_copy_that_the_reward_reads_goes_first_and_a_difference_is_counted():
    copy = {"rubrics": [line("The copy.", 1)]}
    (found,) = read(row(line("The other.", 1), extra_info={"reward_model": copy}))
    assert [each.text for each in found.item.criteria] == ["The copy."]
    assert found.counts["rows_with_two_different_rubrics"] == 1
    (alone,) = read({"prompt": "Say hello.", "extra_info": {"reward_model": copy}})
    assert alone.item.question == "Say hello."
    assert alone.counts["rows_with_two_different_rubrics"] == 0


@pytest.mark.parametrize(
    "tags",
    [
        ["axis:content", "level:2:b"],
        {"axis": "content", "cluster": None, "level": "2:b"},
        '{"axis": "content", "level": "2:b"}',
        '["axis:content", "level:2:b"]',
    ],
)
def test_tags_in_every_form_that_files_have(tags):
    assert criteria(line(tags=tags))[0].tags == ("axis:content", "level:2:b")


@pytest.mark.parametrize("tags", [None, [], {}])
def test_a_line_without_tags_is_the_judges(tags):
    assert criteria(line(tags=tags)) == (Criterion("The rain is loud.", 2.0),)


def test_parquet_structs_and_json_text_give_the_same_as_json_lines():
    given = row(line(tags={"axis": "content", "verifier": "llm"}), extra_info={"original_id": 3})
    packed = {**given, "prompt": json.dumps(PROMPT), "reward_model": json.dumps(given["reward_model"])}
    expected = [found.item for found in read(given)]
    assert [found.item for found in parquet(given)] == expected
    assert [found.item for found in parquet({**packed, "extra_info": "{}"})] == expected
    assert [found.item for found in read(packed)] == expected


@pytest.mark.parametrize(
    ("tags", "rule"),
    [
        (
            {"verifier": "rule", "function": "math_verify", "parameters": {"answer": "42"}},
            Rule("math_verify", (("answer", "42"),)),
        ),
        (
            {"verifier": "rule", "function": "math_verify", "parameters": {"answer": 42, "min_count": None}},
            Rule("math_verify", (("answer", "42"),)),
        ),
        (
            ["verifier:rule", "function:word_count_range", 'parameters:{"min_count": 5, "max_count": 9.0}'],
            Rule("word_count_range", (("max_count", 9), ("min_count", 5))),
        ),
    ],
)
def test_a_tag_names_a_rule(tags, rule):
    (found,) = criteria(line(tags=tags))
    assert (found.verifier, found.rule) == ("rule", rule)
    assert found.tags == ("verifier:rule",)


RULED = {"function": "math_verify", "parameters": {"answer": "5"}}


@pytest.mark.parametrize(
    ("tags", "more", "what"),
    [
        (["verifier:human"], {}, "nothing is called 'human'"),
        (["verifier:Rule", "function:math_verify", 'parameters:{"answer": "5"}'], {}, "nothing is called 'Rule'"),
        (["verifier:rules", "function:math_verify", 'parameters:{"answer": "5"}'], {}, "nothing is called 'rules'"),
        ([], {"verifier": 3}, "nothing is called 3"),
        ([], {"verifier": False}, "nothing is called False"),
        ([], {"verifier": ["rule"]}, "nothing is called ['rule']"),
        (["Verifier:rule", "function:math_verify", 'parameters:{"answer": "5"}'], {}, "key 'Verifier'"),
        ([], {"Verifier": "rule", **RULED}, "key 'Verifier'"),
        (["function:math_verify", 'parameters:{"answer": "5"}'], {}, "key 'function' is given"),
        ({"function": "math_verify", "parameters": {}}, {}, "key 'function' is given"),
        ([], {"parameters": {"answer": "5"}}, "key 'parameters' is given"),
        (["verifier:llm", "function:math_verify"], {}, "key 'function' is given"),
        (["verifier:llm"], {"verifier": "rule", **RULED}, "key 'verifier' is given twice, as 'llm' and as 'rule'"),
        ({"verifier": "rule", **RULED}, {"verifier": "llm"}, "key 'verifier' is given twice, as 'rule' and as 'llm'"),
        (["verifier:rule", "verifier:llm"], {}, "key 'verifier' is given twice, as 'rule' and as 'llm'"),
        ({"verifier": "rule", **RULED}, {"parameters": {"answer": "6"}}, "key 'parameters' is given twice"),
        ({"verifier": "rule", **RULED}, {"function": "word_count_range"}, "key 'function' is given twice"),
    ],
)
def test_a_line_that_only_looks_like_a_rule_does_not_go_to_the_judge(tags, more, what):
    with pytest.raises(ContractError) as caught:
        read(row(), row(line(), line("Right.", 1, tags=tags, **more)))
    assert what in caught.value.what
    assert caught.value.where == "rows.jsonl, line 2, criterion 2"
    assert caught.value.remedy


@pytest.mark.parametrize("tags", [["axis:accuracy", "level:example"], ["verifier:llm"], {"verifier": None}, []])
@pytest.mark.parametrize(
    "more", [{}, {"verifier": "llm"}, {"verifier": "", "function": None, "parameters": {"a": None}}]
)
def test_a_line_without_a_rule_is_the_judges(tags, more):
    assert criteria(line(tags=tags, **more))[0].verifier == "llm"


@pytest.mark.parametrize("tags", [[], {"verifier": "rule"}, {"verifier": "rule", **RULED}])
def test_a_rule_may_stand_in_the_line_itself(tags):
    (found,) = criteria(line(tags=tags, verifier="rule", **RULED))
    assert found.rule == Rule("math_verify", (("answer", "5"),))


def test_a_criterion_that_stands_there_twice_is_kept_once_with_the_sum():
    (found,) = read(
        row(line("Good.", 3), line("Bad.", -7, tags=["a:1"]), line(" Bad.", -2, tags=["a:1", "b:2"]), line("Good.", 1))
    )
    assert [(each.text, each.points) for each in found.item.criteria] == [("Good.", 4.0), ("Bad.", -9.0)]
    assert found.item.criteria[1].tags == ("a:1", "b:2")
    assert found.counts["merged_criteria"] == 2


def test_equal_texts_with_another_rule_are_two_lines():
    ranges = [
        {"verifier": "rule", "function": "word_count_range", "parameters": {"min_count": low, "max_count": 9}}
        for low in (1, 2)
    ]
    assert len(criteria(*(line("Short.", 1, tags=tags) for tags in ranges), line("Short.", 1))) == 3


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (row(prompt=[]), "must be a text or a list"),
        (row(prompt="  "), "turn 1 is empty"),
        (row(prompt=[*PROMPT, {"role": "assistant", "content": "Yes."}]), "the last turn is the assistant's"),
        (row(prompt=[{"role": "tool", "content": "x"}]), "role 'tool'"),
        (row(prompt=[*PROMPT, {"role": "system", "content": "x"}, *PROMPT]), "turn 2 is a system turn"),
        (row(reward_model={"rubrics": []}), "no criterion"),
        (row(reward_model={"style": "rubric"}), "no criterion"),
        (row(line("  ")), "key 'criterion'"),
        (row(line(points=None)), "key 'points'"),
        (row(line(points="2")), "key 'points'"),
        (row(line(points=True)), "key 'points'"),
        (row(line(points=0)), "key 'points'"),
        (row(line(points=float("nan"))), "key 'points'"),
        (row(line(points=float("inf"))), "key 'points'"),
        (row(line(points=10**400)), "key 'points'"),
        (row(line(points=-1)), "no criterion has positive points"),
        (row(line("A.", 1), line("B.", 2), line("B.", -2)), "add up to 0"),
        (row(line("A.", 1e308), line("A.", 1e308)), "sum of its points is no number"),
        (row(line("A.", 1), line("B.", -1e308), line("B.", -1e308)), "sum of its points is no number"),
        (row(line(tags=[1])), "key 'tags'"),
        (row(line(tags={"verifier": "rule", "function": "python"})), "no rule is named 'python'"),
        (row(line(tags={"verifier": "rule"})), "no rule is named None"),
        (row(line(tags={"verifier": "rule", "function": "math_verify"})), "tag parameters"),
        (
            row(line(tags={"verifier": "rule", "function": "word_count_range", "parameters": {"min_count": 1}})),
            "lacks 'max_count'",
        ),
        (row(line("half \ud800")), "which is no character"),
        (row(line(tags={"verifier": "rule", **RULED, "parameters": {"answer": "\udfff"}})), "which is no character"),
        (row(prompt="half \ud800"), "which is no character"),
    ],
)
def test_a_bad_row_is_named_with_a_remedy(bad, what):
    with pytest.raises(ContractError) as caught:
        read(row(), bad)
    assert what in caught.value.what
    assert caught.value.where.startswith("rows.jsonl, line 2")
    assert caught.value.remedy


def test_all_bad_rows_are_told_at_once_and_ten_of_them_in_full():
    bad = [row(line(points=0), prompt=f"Number {number}.") for number in range(13)]
    with pytest.raises(ContractError) as caught:
        read(row(), *bad)
    assert caught.value.what.startswith("13 of 14 rows cannot be used:\n  line 2, criterion 1: key 'points'")
    assert caught.value.what.count("key 'points'") == 10
    assert caught.value.what.endswith("and 3 more")
    assert caught.value.where == "rows.jsonl"


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (row(line(tags=["cluster:hedging_no-uncertainty_hedges"])), "HealthBench"),
        (row(line(tags=["axis:accuracy", "cluster:x"])), "HealthBench"),
        (row(line(tags=["cluster:mine"])), None),
        (row(line(tags=["axis:accuracy", "level:example"])), "HealthBench"),
        (row(data_source="health_bench_500"), "HealthBench"),
        (row(line(tags=["axis:accuracy"])), None),
        (row(line(tags=["axis:tone", "level:example"])), None),
    ],
)
def test_a_benchmark_is_known_by_name_or_tags(bad, what):
    (found,) = read(bad)
    assert found.benchmark == what


def test_equal_rows_are_kept_once_and_equal_prompts_share_a_template():
    reading = collect(read(row(), row(line("Other.")), row(), row(prompt=" Write  about rain. ")))
    assert reading.counts["repeated_rows"] == 1
    assert reading.counts["rows_in_file"] == 4
    assert len(reading.items) == 3
    assert {item.template for item in reading.items} == {"Write about rain."}


def test_conversations_keep_their_turns_and_a_system_turn_is_not_the_question():
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Go on."},
    ]
    (found,) = read(row(prompt=turns))
    assert found.item.turns == tuple(Turn(turn["role"], turn["content"]) for turn in turns)
    assert found.item.system == "Be brief."
    assert found.item.question == (
        "Turn 1, user:\n    Hello.\n\nTurn 2, assistant:\n    Yes?\n\nTurn 3, user:\n    Go on."
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)
POINTS = st.floats(0.5, 10) | st.integers(1, 10)


@given(
    texts=st.lists(TEXT, min_size=1, max_size=6, unique_by=lambda text: " ".join(text.split())),
    points=st.lists(POINTS, min_size=6, max_size=6),
    source=TEXT,
)
def test_whatever_is_written_as_parquet_or_json_is_read_back(texts, points, source):
    given_row = row(*(line(text, float(value)) for text, value in zip(texts, points, strict=False)), data_source=source)
    (found,) = read(given_row)
    assert [each.text for each in found.item.criteria] == [text.strip() for text in texts]
    assert [each.points for each in found.item.criteria] == [float(value) for value in points[: len(texts)]]
    assert found.data_source == source
    assert parquet(given_row)[0].item == found.item


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["rubrics", "criterion", "points", "tags", "role", "content"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(prompt=JSON, model=JSON, extra=JSON)
def test_any_row_is_read_or_refused_by_a_contract_error(prompt, model, extra):
    row = {"prompt": prompt, "reward_model": model, "extra_info": extra}
    try:
        (found,) = read(row)
    except ContractError:
        return
    assert found.item.criteria
