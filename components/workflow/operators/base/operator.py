"""The base of all operators."""

import abc
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from components.core.step.behaviour import behaviour
from components.sandbox.outcome import JSON
from components.workflow.operators.base import prompt
from components.workflow.operators.base.desk import Desk
from components.workflow.operators.base.field import Arguments, Field, accept


class Operator(abc.ABC):
    """One operator. A subclass is a module of the folder, with its prompt in a text file of the same name beside it.

    Args:
        desk: what one call may use.

    Attributes:
        name: under which workflows call it, that of the class.
        about: what it does, for the policy.
        inputs: of a call, by name alone.
        outputs: keys of what a call gives.
        asks: most questions that a call puts to the executor model: a number, or the input that says how many.
        prompt: from the text file.
        version: name and hash of prompt and module but for its comments, for the ledger and for kept replies.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    inputs: ClassVar[tuple[Field, ...]]
    outputs: ClassVar[tuple[Field, ...]]
    asks: ClassVar[int | str] = 1
    prompt: ClassVar[prompt.Prompt]
    version: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = cls.__name__
        source = Path(str(sys.modules[cls.__module__].__file__))
        cls.prompt = prompt.load(source.with_suffix(".txt"))
        made = hashlib.sha256(behaviour(source.read_bytes()) + cls.prompt.digest.encode())
        cls.version = f"workflow/{cls.name}@{made.hexdigest()[:12]}"

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def __call__(self, /, **inputs: JSON) -> dict[str, JSON]:
        """Check the inputs and run.

        Raises:
            OperatorError: the inputs are wrong, or the executor model's replies cannot be read.
            BudgetError: see :class:`Desk`.
            AbstainError: see :class:`Desk`.
        """
        return await self.run(accept(self.name, self.inputs, inputs))

    @abc.abstractmethod
    async def run(self, given: Arguments) -> dict[str, JSON]:
        """The outputs. Raises as :meth:`__call__` does."""

    @classmethod
    def most_asks(cls, numbers: Mapping[str, int]) -> int:
        """Most questions that a call with these whole numbers among its inputs puts to the executor model."""
        if isinstance(cls.asks, int):
            return cls.asks
        (field,) = (field for field in cls.inputs if field.name == cls.asks)
        return numbers.get(field.name, int(field.default or 0))

    @classmethod
    def describe(cls) -> str:
        """The operator for the policy: signature, what it does, and a line for each input and output."""
        returned = ", ".join(f'"{field.name}": {field.kind}' for field in cls.outputs)
        lines = [f"{cls.name}({', '.join(field.signature() for field in cls.inputs)}) -> {{{returned}}}"]
        lines.append(f"  {' '.join(cls.about.split())}")
        lines.extend(f"  {field.name}: {field.about}" for field in cls.inputs)
        lines.extend(f'  -> "{field.name}": {field.about}' for field in cls.outputs)
        return "\n".join(lines)
