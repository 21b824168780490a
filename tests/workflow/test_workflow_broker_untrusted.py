"""Whatever untrusted code sends, and whatever the model says: outputs of the declared types, or a typed error."""

import asyncio
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_executor import DOUBLE

from components.sandbox.outcome import Failure, FailureKind, Value
from components.tasks.code import CodeOutcome
from components.workflow.broker.broker import Broker
from components.workflow.broker.executor import Said
from components.workflow.errors import BudgetError, OperatorError
from components.workflow.operators import REGISTRY
from components.workflow.operators.base.field import Kind
from components.workflow.types import Budget, Cost

TYPES = {Kind.TEXT: str, Kind.BOOLEAN: bool}
WORDS = st.text(st.characters())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([*REGISTRY, "custom", "run", ""]) | WORDS | st.just("\udfff")
KEYS = st.sampled_from(sorted({field.name for each in REGISTRY.values() for field in each.inputs})) | WORDS
TAGS = sorted({field.name for each in REGISTRY.values() for field in each.outputs} | {"letter"})
REPLIES = st.lists(
    st.sampled_from(
        [
            *(f"<{tag}>" for tag in TAGS),
            *(f"</{tag}>" for tag in TAGS),
            "A",
            "C",
            "true",
            "False",
            "def solve():",
            "```\n",
        ]
    )
    | WORDS.filter(str.strip),
    min_size=1,
).map("".join)


class Programs:
    """Says that programs ended in some way."""

    def __init__(self, passes: bool) -> None:
        self.passes = passes

    async def solve(self, _: str) -> Value | Failure:
        return Value("42", 0.1) if self.passes else Failure(FailureKind.EXCEPTION, "ValueError", 0.1)

    async def test(self, *_: Any) -> CodeOutcome:
        return CodeOutcome(self.passes, "passed" if self.passes else "failed", "", 0.1)


class Model:
    """Says one thing, without HTTP."""

    priced = False

    def __init__(self, reply: str, passes: bool = False) -> None:
        self.reply = reply
        self.programs = Programs(passes)

    async def ask(self, *_: Any, **__: Any) -> Said:
        return Said(self.reply, Cost(1, 10, 1, 0.1, None))


def brokered(model: Model, **limits: int) -> Broker:
    budget = Budget(**{"calls": 100, "tokens": 10_000, "seconds": 100.0, "bytes": 100_000, **limits})
    return Broker(model, budget, DOUBLE)  # type: ignore[arg-type]


@given(NAMES, st.dictionaries(KEYS, JSON, max_size=5))
def test_untrusted_calls_are_answered_or_refused(name: str, arguments: dict[str, Any]) -> None:
    made = brokered(Model("42"))
    try:
        asyncio.run(made.call(name, arguments))  # type: ignore[arg-type]
    except OperatorError as error:
        str(error).encode()
    (call,) = made.trace
    json.dumps([call.operator, call.arguments, call.outputs, call.error], allow_nan=False, ensure_ascii=False).encode()


@given(st.sampled_from(sorted(REGISTRY)), REPLIES, st.booleans())
@settings(max_examples=300)
def test_whatever_the_model_says(name: str, reply: str, passes: bool) -> None:
    given = {
        "solutions": ["41", "42"],
        "vote_count": 2,
        "test_loop": 1,
        "entry_point": "double",
    }
    arguments = {field.name: given.get(field.name, "text") for field in REGISTRY[name].inputs}
    made = brokered(Model(reply, passes))
    try:
        outputs = asyncio.run(made.call(name, arguments))  # type: ignore[arg-type]
    except OperatorError:
        assert made.trace[0].outputs is None
    else:
        found = {key: type(value) for key, value in outputs.items()}
        assert found == {field.name: TYPES[field.kind] for field in REGISTRY[name].outputs}


@given(st.integers(1, 20), st.integers(1, 200), st.integers(1, 30))
def test_no_execution_gets_more_than_its_budget(calls: int, tokens: int, times: int) -> None:
    made = brokered(Model("42"), calls=calls, tokens=tokens)

    async def flood() -> list[Any]:
        arguments: dict[str, Any] = {"input": "x", "instruction": ""}
        work = (made.call("Custom", arguments) for _ in range(times))
        return await asyncio.gather(*work, return_exceptions=True)

    found = asyncio.run(flood())
    answers = [each for each in found if not isinstance(each, BaseException)]
    assert all(isinstance(each, BudgetError) for each in found if isinstance(each, BaseException))
    # Each call takes 11 tokens.
    assert len(answers) <= min(calls, tokens // 11)
    assert (len(answers) == times) == (times <= calls and 11 * times <= tokens)
