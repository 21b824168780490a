"""Calls side by side: all results in order, one failure for all, and no fault hidden behind it."""

import asyncio

import pytest

from components.bias.together import together
from components.core.errors import JudgeError


async def said(number: int) -> int:
    await asyncio.sleep(0.0)
    return number


async def down(number: int) -> int:
    raise JudgeError(f"call {number} failed", where="judge j")


async def faulty() -> int:
    raise KeyError("a fault of the program")


def test_results_stand_in_the_order_of_the_calls() -> None:
    assert asyncio.run(together(*(said(number) for number in range(5)))) == [0, 1, 2, 3, 4]


def test_of_several_failures_the_first_is_told_also_from_within() -> None:
    async def inner() -> int:
        return sum(await together(down(1), down(2)))

    with pytest.raises(JudgeError, match="call 1 failed"):
        asyncio.run(together(inner(), said(3)))


def test_a_fault_of_the_program_is_not_hidden_by_a_failure_beside_it() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(together(down(1), faulty()))
    assert {type(each) for each in caught.value.exceptions} == {JudgeError, KeyError}
