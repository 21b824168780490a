"""JSON that refuses repeated keys, arrays read piece by piece, and places of faults."""

import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.core.unique_json import RepeatedKeyError
from components.data.mixture import elements
from components.data.mixture.decode import decode
from components.data.mixture.elements import Elements
from components.data.mixture.records import read_records

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(['a":', '":"', " :", '\\":', "{", "]"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(TEXTS, inside, max_size=4),
    max_leaves=12,
)
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : "), (",\n", "\t:")])


@given(VALUES, SEPARATORS, st.booleans())
def test_a_value_is_read_as_the_standard_library_reads_it(value, separators, ascii_only):
    assert decode(json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a" : 1, "a": 2}',
        '{"a"\n:1,"a":2}',
        '{"b": [{"a":1,"a":1}]}',
        '{"x": "\\":", "a": 1, "a": 1}',
        '{"a": 1, "\\u0061": 2}',
    ],
)
def test_a_repeated_key_is_refused(text):
    with pytest.raises(RepeatedKeyError):
        decode(text.encode())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@settings(max_examples=30)
@given(st.lists(VALUES, max_size=5), SEPARATORS)
def test_an_array_comes_piece_by_piece(size, values, separators):
    text = json.dumps(values, separators=separators, ensure_ascii=False).encode()
    before, elements._CHUNK = elements._CHUNK, size  # type: ignore[misc]
    try:
        found = [json.loads(each) for _, each in Elements(io.BytesIO(text), "f").array()]
    finally:
        elements._CHUNK = before  # type: ignore[misc]
    assert found == values


def test_numbers_at_the_end_of_a_chunk_are_read_whole(monkeypatch):
    monkeypatch.setattr(elements, "_CHUNK", 4)
    assert [text for _, text in Elements(io.BytesIO(b"[12345678,1.5e10]"), "f").array()] == ["12345678", "1.5e10"]


def test_elements_tell_their_line(monkeypatch):
    monkeypatch.setattr(elements, "_CHUNK", 5)
    assert [line for line, _ in Elements(io.BytesIO(b'[\n{"a":\n1},\n\n{"b":2}\n]'), "f").array()] == [2, 5]


@pytest.mark.parametrize("text", [b"[1, 2", b"[1 2]", b'[{"a": ]', b"[1,]", b'["\xff"]', b""])
def test_a_broken_array_names_file_and_line(text):
    with pytest.raises(ContractError) as caught:
        list(Elements(io.BytesIO(text), "data.json").array())
    assert caught.value.where == "data.json, line 1"


class Counted(io.BytesIO):
    """Bytes that tell how many of them were read."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.taken += len(found)
        return found


@pytest.mark.parametrize(
    "broken",
    [
        '{"a": 1 "b": 2}',
        '{"a": tru}',
        '{"a": "x" y"}',
        '{"a": 1',
        '{"a": [1, 2}',
        '{"a": "\\q"}',
        '{"a": "\n"}',
        "{a: 1}",
    ],
)
def test_a_mistake_in_an_early_element_is_told_before_the_rest_is_read(monkeypatch, broken):
    monkeypatch.setattr(elements, "_CHUNK", 256)
    good = '{"a": "some text", "b": [1, 2, 3]}'
    stream = Counted(f"[{good},\n{broken},\n{', '.join([good] * 5000)}]".encode())
    cursor = Elements(stream, "data.json").array()
    assert next(cursor) == (1, good)
    with pytest.raises(ContractError, match="not JSON") as caught:
        list(cursor)
    assert caught.value.where in ("data.json, line 2", "data.json, line 3")
    assert stream.taken <= 3 * 256


def test_an_element_that_swallows_the_rest_is_told_before_memory_is_full(monkeypatch):
    monkeypatch.setattr(elements, "_CHUNK", 256)
    monkeypatch.setattr(elements, "LONGEST", 4096)
    rest = ", ".join(['{"a": 1}'] * 5000)
    stream = Counted(f'[{{"a": [1, 2, {rest}]'.encode())
    with pytest.raises(ContractError, match="not JSON"):
        list(Elements(stream, "data.json").array())
    assert stream.taken <= 4 * 4096


def test_a_long_element_is_not_looked_at_again_and_again(monkeypatch):
    looked = []
    decode_at = elements._DECODER.raw_decode

    class Decoder:
        def raw_decode(self, text, at):
            looked.append(len(text) - at)
            return decode_at(text, at)

    monkeypatch.setattr(elements, "_CHUNK", 16)
    monkeypatch.setattr(elements, "_DECODER", Decoder())
    (found,) = Elements(io.BytesIO(json.dumps([["x" * 99] * 1000]).encode()), "f").array()
    assert json.loads(found[1]) == ["x" * 99] * 1000
    # Twice as much each time: all looks together are some twice the element.
    assert sum(looked) < 4 * len(found[1])


def test_every_form_of_file_gives_the_same_rows(tmp_path):
    rows = [{"a": 1, "b": "x y"}, {"a": 2, "b": "é\u2028"}]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    (tmp_path / "r.jsonl").write_bytes(b"\xef\xbb\xbf" + lines)
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "r.json").write_text(json.dumps(rows, indent=1))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "r.parquet")
    for path in sorted(tmp_path.iterdir()):
        assert [row for _, row in read_records(path, path.name)] == rows, path.name


def test_faults_have_their_lines(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"a": 1}\n\n[1]\n{"a": 1, "a": 2}\n{broken\n')
    found = dict(read_records(path, "r.jsonl"))
    assert found["line 1"] == {"a": 1}
    assert [place for place, row in found.items() if isinstance(row, ContractError)] == ["line 3", "line 4", "line 5"]


@pytest.mark.parametrize(("name", "content"), [("r.csv", b"a\n1"), ("r.jsonl.gz", b"no gzip"), ("r.parquet", b"none")])
def test_a_file_of_no_use_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ContractError) as caught:
        list(read_records(tmp_path / name, f"s3://bucket/{name}"))
    assert caught.value.where == f"s3://bucket/{name}"
