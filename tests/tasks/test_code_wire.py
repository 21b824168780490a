"""Values come back as they were, and whatever else comes is refused, never taken for something."""

import json
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.tasks.code_wire import LONGEST, GoneError, Link, Reader, SpoiledError, UnfitError, Writer

LEAVES = (
    st.none() | st.booleans() | st.integers() | st.integers(2**62, 2**2000) | st.floats(allow_nan=False) | st.text()
    | st.binary() | st.complex_numbers(allow_nan=False) | st.fractions() | st.decimals(allow_nan=False)
    | st.datetimes() | st.dates() | st.timedeltas() | st.times()
)  # fmt: skip
KEYS = st.integers() | st.text() | st.tuples(st.booleans(), st.text()) | st.frozensets(st.integers())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner) | st.sets(KEYS),
    max_leaves=20,
)
JSONS: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from("ilCOdsfbcrSqDFTYHLZAUkvmn"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
)


def refuse(value: object) -> Any:
    raise UnfitError(str(type(value)))


def unknown(told: list[Any]) -> Any:
    raise ValueError(f"no kind {told[0]}")


def crossed(value: Any) -> Any:
    return Reader(unknown)(json.loads(json.dumps(Writer(refuse)(value))))


@settings(max_examples=60)
@given(VALUES)
def test_values_come_back_as_they_were(value: Any) -> None:
    back = crossed(value)
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value) or isinstance(value, set | dict | list | tuple)


@settings(max_examples=60)
@given(JSONS)
def test_any_json_is_a_value_of_built_in_types_or_refused(told: Any) -> None:
    try:
        value = Reader(unknown)(told)
    except SpoiledError:
        return
    assert type(value).__module__ in ("builtins", "collections", "decimal", "fractions", "datetime", "array", "uuid")


class Text(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Items(list[int]):
    def __iter__(self) -> Any:
        return iter([42])

    def __len__(self) -> int:
        return 42


def test_of_a_subclass_the_base_class_crosses() -> None:
    assert crossed([Text("a"), Items([1]), {Text("b"): Items()}]) == ["a", [1], {"b": []}]
    assert type(crossed(Text("a"))) is str


@pytest.mark.parametrize("told", [["r", 0, 10**18, 1], ["i", "f" * (1 << 21)], ["t", ["?"]], {"v": 1}, [[1]], ["d", 1]])
def test_what_is_no_value_is_refused(told: Any) -> None:
    with pytest.raises(SpoiledError):
        Reader(unknown)(told)


def test_deep_round_and_numerous_values_are_unfit() -> None:
    ring: list[Any] = []
    ring.append(ring)
    bomb: list[Any] = []
    for _ in range(60):
        bomb = [bomb, bomb]
    for value in (ring, bomb):
        with pytest.raises(UnfitError):
            Writer(refuse)(value)
    told: Any = 1
    for _ in range(500):
        told = ["l", told]
    with pytest.raises(SpoiledError):
        Reader(unknown)(told)


@pytest.mark.parametrize(
    "said", [b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\1{", b"\0\0\0\3nul", b"\0\0\0\2\xff\xff"]
)
def test_what_is_no_message_is_refused(said: bytes) -> None:
    ours, theirs = os.pipe()
    try:
        os.write(theirs, said)
        with pytest.raises(SpoiledError):
            Link(ours).receive()
    finally:
        os.close(ours)
        os.close(theirs)


def test_end_of_the_other_side_and_too_long_a_message_are_told() -> None:
    ours, theirs = os.pipe()
    with pytest.raises(UnfitError):
        Link(theirs).send({"v": "x" * LONGEST})
    os.close(theirs)
    with pytest.raises(GoneError):
        Link(ours).receive()
    os.close(ours)
