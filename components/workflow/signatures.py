"""From operators to what validation and executions know of them."""

from collections.abc import Sequence
from typing import Protocol

from components.workflow.contract.signature import Input, Signature


class InputField(Protocol):
    """An input or output, as far as it matters here."""

    @property
    def name(self) -> str:
        """As workflows write it."""
        ...

    @property
    def required(self) -> bool:
        """Whether an input must be given."""
        ...


def signature(name: str, inputs: Sequence[InputField], outputs: Sequence[InputField]) -> Signature:
    """The signature of one operator.

    Args:
        name: under which workflows call it.
        inputs, outputs: its fields.
    """
    given = tuple(Input(field.name, required=field.required) for field in inputs)
    return Signature(name, given, tuple(field.name for field in outputs))
