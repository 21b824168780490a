"""What validation knows of an operator."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """Attributes:
    name: as calls give it.
    required: whether a call must give it.
    """

    name: str
    required: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class Signature:
    """How an operator is called, and what it returns.

    Attributes:
        name: the operator's.
        inputs: in the order in which a call may give them without their names.
        outputs: keys of the mapping that a call returns.
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
