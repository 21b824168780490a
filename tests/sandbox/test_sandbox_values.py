"""Values go in and come out as JSON has them; what is no answer is none."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_limits import Run

from components.sandbox.limits import Limits
from components.sandbox.outcome import Failure, FailureKind, Value
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import outcome

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


@settings(max_examples=40)
@given(value=VALUES)
def test_values_survive_the_way_in_and_out(run: Run, value: Any) -> None:
    got = run("def f(x): return x", value)
    assert isinstance(got, Value)
    assert same(got.value, value)


@given(text=st.text())
def test_no_text_from_a_call_raises_in_the_parent(text: str) -> None:
    got = outcome({"kind": "value", "text": text, "seconds": 0.1, "output": ""})
    assert isinstance(got, Value | Failure)


@pytest.mark.parametrize("text", ["", "tru", "NaN", "Infinity", "-Infinity", "True", "'x'", "1 2", "[" * 100_000])
def test_what_is_no_json_is_a_bad_result(text: str) -> None:
    got = outcome({"kind": "value", "text": text, "seconds": 0.1, "output": ""})
    assert isinstance(got, Failure)
    assert got.kind is FailureKind.BAD_RESULT


async def test_arguments_that_are_no_json_are_the_callers_mistake() -> None:
    sandbox = Sandbox(concurrency=1)
    try:
        for wrong in (math.nan, {1}):
            with pytest.raises((ValueError, TypeError)):
                await sandbox.run("def f(x): return x", "f", [wrong])  # type: ignore[list-item]
    finally:
        await sandbox.close()


@pytest.mark.parametrize("wrong", [{"cpu_seconds": 0}, {"wall_seconds": 0.0}, {"memory_bytes": 1}, {"processes": -1}])
def test_limits_that_nothing_can_run_in_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limits(**wrong)
