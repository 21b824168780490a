"""A key that stands twice in an object is a fault; everything else is read as the standard library reads it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.core.unique_json import RepeatedKeyError, loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_whatever_has_each_key_once_is_read_as_it_is(value: object) -> None:
    assert loads(json.dumps(value)) == value


@given(st.text(max_size=6), VALUES, VALUES, st.integers(0, 3))
def test_a_key_that_stands_twice_is_named_at_any_depth(key: str, one: object, other: object, depth: int) -> None:
    text = f"{{{json.dumps(key)}: {json.dumps(one)}, {json.dumps(key)}: {json.dumps(other)}}}"
    for _ in range(depth):
        text = f'[{{"a": {text}, "b": 1}}]'
    with pytest.raises(RepeatedKeyError) as caught:
        loads(text)
    assert repr(key) in caught.value.what


def test_two_spellings_of_one_key_are_one_key() -> None:
    with pytest.raises(RepeatedKeyError, match="'a' twice"):
        loads(r'{"a": 1, "\u0061": 2}')


def test_the_place_is_added_by_who_knows_it() -> None:
    fault = RepeatedKeyError("x", remedy="y").located("f.jsonl, line 3")
    assert isinstance(fault, ContractError)
    assert (fault.what, fault.where, fault.remedy) == ("x", "f.jsonl, line 3", "y")


@pytest.mark.parametrize("text", ["{", "", '{"a": 1} {"a": 1}'])
def test_what_is_no_json_stays_a_value_error(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        loads(text)
