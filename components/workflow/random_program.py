"""Random programs that keep the contract and a number of calls, made from what operators say of themselves."""

import random
import re
from collections.abc import Mapping
from typing import Final

from components.workflow.operators import REGISTRY
from components.workflow.operators.base.field import Field, Kind
from components.workflow.operators.base.operator import Operator

_PROBLEM: Final = frozenset({"problem", "input"})
_ENTRY_POINT: Final = "entry_point"
_WORDS: Final = "instruction"
_VERBS: Final = (
    "Solve",
    "Answer",
    "Think about",
    "Work on",
    "Look closely at",
    "Make a plan for",
    "Explain",
    "Restate",
)
_MANNERS: Final = (
    "step by step", "briefly", "in your own words", "and check the result", "with an example", "without guessing",
    "from what is asked backwards", "and name what is given", "as an expert would", "in two sentences",
)  # fmt: skip
_CARES: Final = ("Mind the details.", "Be exact.", "State the answer at the end.", "Say if something is missing.", "")
_MOST_STEPS: Final = 5
CALLS: Final = 20
"""Calls of a workflow's budget where nothing else is said."""
_AT_ONCE: Final = 3
"""Most calls of one operator that run at once."""


class _Program:
    """The program so far.

    Args:
        dice: decides everything.
        entry_point: whether the call has a parameter of that name.
        calls: questions to the executor model at most, whatever it replies.
    """

    def __init__(self, dice: random.Random, *, entry_point: bool, calls: int) -> None:
        self._dice = dice
        self._entry_point = entry_point
        self._left = calls
        self.lines: list[str] = []
        self.used: dict[str, type[Operator]] = {}
        self.texts: list[str] = []
        """Expressions of texts that operators gave, the latest last."""
        self._truths: list[str] = []

    def can_take(self, operator: type[Operator]) -> bool:
        """Whether there is something for each input that must be given, and a call is left for it."""
        fewest = {field.name: field.least for field in operator.inputs if field.kind is Kind.INTEGER}
        if operator.most_asks(fewest) > self._left:
            return False
        return all(not field.required or self._available(field) for field in operator.inputs)

    def step(self, operator: type[Operator]) -> None:
        """One call, several at once, or one that is made only if an earlier verdict says so."""
        self.used[operator.name] = operator
        attribute = attribute_of(operator.name)
        name = f"step_{len(self.lines) + 1}"
        arguments, asks = self._arguments(operator)
        call = f"self.{attribute}({arguments})"
        outputs = [field for field in operator.outputs if field.kind is Kind.TEXT]
        form = self._dice.random()
        at_once = min(_AT_ONCE, self._left // asks)
        if form < 0.2 and outputs and at_once > 1:
            number = self._dice.randint(2, at_once)
            self._left -= number * asks
            self.lines.append(f"{name} = await asyncio.gather(*[{call} for _ in range({number})])")
            place = self._dice.randrange(number)
            self.texts.append(f'{name}[{place}]["{self._dice.choice(outputs).name}"]')
            return
        self._left -= asks
        if form < 0.5 and self._truths and self.texts and outputs:
            truth, before = self._truths[-1], self.texts[-1]
            key = self._dice.choice(outputs).name
            self.lines.append(
                f'{name} = {before}\nif not {truth}:\n    {name}_new = await {call}\n    {name} = {name}_new["{key}"]'
            )
            self.texts.append(name)
            return
        self.lines.append(f"{name} = await {call}")
        self.texts.extend(f'{name}["{field.name}"]' for field in outputs)
        self._truths.extend(f'{name}["{field.name}"]' for field in operator.outputs if field.kind is Kind.BOOLEAN)

    def _available(self, field: Field) -> bool:
        if field.kind is Kind.TEXT and field.name == _ENTRY_POINT:
            return self._entry_point
        if field.kind is Kind.TEXT and field.name in _PROBLEM | {_WORDS}:
            return True
        return field.kind is Kind.INTEGER or bool(self.texts)

    def _arguments(self, operator: type[Operator]) -> tuple[str, int]:
        """Of a call, and the most questions that it puts."""
        given: list[str] = []
        numbers: dict[str, int] = {}
        for field in operator.inputs:
            wanted = field.required or (self._available(field) and self._dice.random() < 0.5)
            if field.name == operator.asks:
                # Left out it has its default, which may be more than there is.
                wanted = wanted or operator.most_asks({}) > self._left
                most = min(field.most, self._left)
                if wanted:
                    numbers[field.name] = self._dice.randint(field.least, most)
                    given.append(f"{field.name}={numbers[field.name]}")
            elif wanted:
                given.append(f"{field.name}={self._value(field)}")
        return ", ".join(given), operator.most_asks(numbers)

    def _value(self, field: Field) -> str:
        dice = self._dice
        if field.kind is Kind.INTEGER:
            return str(dice.randint(field.least, field.most))
        if field.kind is Kind.TEXTS:
            number = min(field.most, max(field.least, dice.randint(2, 4)))
            return f"[{', '.join(dice.choice(self.texts) for _ in range(number))}]"
        if field.name == _ENTRY_POINT:
            return _ENTRY_POINT
        if field.name == _WORDS:
            words = f"{dice.choice(_VERBS)} this {dice.choice(_MANNERS)}. {dice.choice(_CARES)}".strip()
            return repr(f"{words}\n\n")
        if field.name in _PROBLEM:
            # Mostly the problem itself; now and then with what came of it so far.
            if self.texts and dice.random() < 0.2:
                return f'problem + "\\n\\n" + {dice.choice(self.texts)}'
            return "problem"
        return dice.choice(self.texts[-3:])


def random_program(
    seed: int,
    *,
    entry_point: bool,
    registry: Mapping[str, type[Operator]] = REGISTRY,
    steps: int = _MOST_STEPS,
    calls: int = CALLS,
) -> str:
    """Source of a program of 2 to ``steps`` calls of operators, one after another, some of them several at once; of
    fewer where ``calls`` leaves no more.

    Args:
        seed: equal ones give equal programs.
        entry_point: whether the problem names a function; operators that need its name are left out where not.
        registry: the operators that there are.
        steps: at least 2.
        calls: questions that it puts to the executor model at most, whatever that replies; at least 1, and as many as
            the operators of ``registry`` take for one.
    """
    dice = random.Random(f"workflow/{seed}/{entry_point}")
    program = _Program(dice, entry_point=entry_point, calls=calls)
    wanted = dice.randint(2, steps)
    while len(program.lines) < wanted or not program.texts:
        possible = [each for each in registry.values() if program.can_take(each)]
        if not possible and program.texts:
            break
        program.step(dice.choice(possible))
    return _source(program, entry_point=entry_point, answer=program.texts[-1])


def attribute_of(name: str) -> str:
    """How an operator's attribute is called: ``ScEnsemble`` is ``sc_ensemble``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _source(program: _Program, *, entry_point: bool, answer: str) -> str:
    parameter = ", entry_point" if entry_point else ""
    body = "\n".join(program.lines).replace("\n", "\n        ")
    built = "".join(f"        self.{attribute_of(name)} = operator.{name}(self.llm)\n" for name in program.used)
    return (
        "import asyncio\n\n\n"
        "class Workflow:\n"
        "    def __init__(self, name, llm_config, dataset):\n"
        "        self.llm = create_llm(llm_config)\n"
        f"{built}\n"
        f"    async def __call__(self, problem{parameter}):\n"
        f"        {body}\n"
        f"        return {answer}, self.llm.cost\n"
    )
