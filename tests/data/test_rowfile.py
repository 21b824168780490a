import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.core.errors import ContractError
from components.data.rowfile import read_rows


def test_lines_a_list_and_blank_lines_are_taken():
    lines = read_rows(b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": 2}\n', source="x.jsonl")
    assert [(row.where, row.value) for row in lines] == [("x.jsonl, line 1", {"a": 1}), ("x.jsonl, line 3", {"a": 2})]
    listed = read_rows(json.dumps([{"a": 1}, {"a": 2}]).encode(), source="x.json")
    assert [row.value for row in listed] == [{"a": 1}, {"a": 2}]
    assert listed[1].where == "x.json, row 1 (from 0)"


@pytest.mark.parametrize(
    ("content", "source", "what"),
    [
        (b"{}", "x.csv", "not '.csv'"),
        (b"{}", "x", "not 'nothing'"),
        (b"", "x.jsonl", "holds no rows"),
        (b"[]", "x.json", "holds no rows"),
        (b"\xff", "x.jsonl", "not UTF-8"),
        (b"{", "x.jsonl", "not JSON"),
        (b"[1]", "x.json", "expected a JSON object, got int"),
        (b"3", "x.jsonl", "expected a JSON object, got int"),
        (b"[" * 100_000, "x.json", "nested too deep"),
        (b"PAR1 no", "x.parquet", "not a readable parquet file"),
    ],
)
def test_what_is_no_file_of_rows_is_refused(content, source, what):
    with pytest.raises(ContractError, match=what) as caught:
        read_rows(content, source=source)
    assert source in caught.value.where
    assert caught.value.remedy


def test_all_lines_that_are_no_json_are_told_at_once():
    with pytest.raises(ContractError) as caught:
        read_rows(b'{"a": 1}\n{\n3\n', source="x.jsonl")
    assert caught.value.what.startswith("2 of 3 rows cannot be used:\n  line 2: not JSON")
    assert "line 3: expected a JSON object" in caught.value.what


def test_a_column_that_is_there_twice_is_named():
    stream = io.BytesIO()
    columns = {"prompt": 2, "note": 2, "id": 1}
    names = [name for name, times in columns.items() for _ in range(times)]
    pq.write_table(pa.table([pa.array(["a"])] * len(names), names=names), stream)
    with pytest.raises(ContractError, match="the column 'prompt' 2 times") as caught:
        read_rows(stream.getvalue(), source="x.parquet")
    assert caught.value.where == "x.parquet"
    # Columns that nobody reads may be there as often as they like.
    stream = io.BytesIO()
    pq.write_table(pa.table([pa.array(["a"])] * 3, names=["prompt", "note", "note"]), stream)
    assert [row.value for row in read_rows(stream.getvalue(), source="x.parquet")] == [{"prompt": "a"}]
