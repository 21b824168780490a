import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.generate.partial import PartialFile


def row(name: str, samples: int = 2, text: str = "x\ny") -> dict:
    return {
        "row_id": name,
        "responses": [text] * samples,
        "finished": [True] * samples,
        "response_tokens": [3] * samples,
    }


def test_what_was_added_comes_back(tmp_path):
    partial = PartialFile(tmp_path / "p.jsonl", 2)
    assert partial.load() == {}
    partial.append([row("a"), row("b", text="é\u2028")])
    partial.append([row("c")])
    assert PartialFile(tmp_path / "p.jsonl", 2).load() == {
        "a": row("a"),
        "b": row("b", text="é\u2028"),
        "c": row("c"),
    }


@given(cut=st.integers(0, 400))
def test_a_kill_at_any_byte_loses_only_the_torn_row(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("partial") / "p.jsonl"
    partial = PartialFile(path, 2)
    partial.append([row("a"), row("b"), row("c")])
    content = path.read_bytes()
    path.write_bytes(content[:cut])
    whole = content[:cut].count(b"\n")
    assert list(partial.load()) == ["a", "b", "c"][:whole]
    partial.append([row("d")])
    assert list(partial.load()) == [*["a", "b", "c"][:whole], "d"]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{}",
        '"row_id"',
        "not json",
        json.dumps({**row("a"), "more": 1}),
        json.dumps({**row("a"), "row_id": 3}),
        json.dumps(row("a", samples=1)),
        json.dumps({**row("a"), "responses": ["x", None]}),
        json.dumps({**row("a"), "finished": [1, 0]}),
        json.dumps({**row("a"), "response_tokens": [True, 2]}),
        json.dumps({**row("a"), "response_tokens": "33"}),
    ],
)
def test_lines_that_are_no_rows_count_as_not_written(tmp_path, line):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(row("b")) + "\n" + line + "\n")
    assert list(PartialFile(path, 2).load()) == ["b"]
