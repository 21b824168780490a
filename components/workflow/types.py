"""What passes between the parts of workflow RL: the problem, the budget of one execution, its calls and their cost."""

import dataclasses
from collections.abc import Mapping

from components.sandbox.outcome import JSON


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """What a workflow is to solve, without its gold answer.

    Attributes:
        domain: math, code or qa.
        dataset: as :data:`components.tasks.sets.DATASETS` names it.
        text: what the workflow is called with; of HumanEval, the source that is to be completed and nothing else.
        entry_point: the function that a program must define; None where the problem names none.
        public_tests: source of tests whose outcome a workflow may see: asserts, or a function ``check``. Only what the
            text shows; of MBPP, whose prompt shows all its tests, they are also those that decide. None where it shows
            none.
    """

    domain: str
    dataset: str
    text: str
    entry_point: str | None
    public_tests: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """What an execution, or one call of an operator, took.

    Attributes:
        calls: replies of the executor model; one that came from the cache counts as when it was made.
        prompt_tokens: that the model read, cached replies included; estimated where its server counts none.
        completion_tokens: that it wrote; likewise.
        seconds: that the model's server took over calls, without waiting for a permit, and that code ran; summed, also
            over what ran at once. A cached reply took none.
        money: in the currency of the executor's price; None where it has no price.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    money: float | None

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
            None if self.money is None or other.money is None else self.money + other.money,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One call of an operator, for the trace.

    Attributes:
        operator: its name, as it was called.
        arguments: as they came; of a call that was refused for its arguments, what can be shown of them.
        outputs: what the workflow got; None when it got an error.
        error: reason and one line for people; None when it got outputs.
        cost: of this call.
        enhancement: the text of layer 2 that its prompts bore; None when they bore none, or nothing was asked.
    """

    operator: str
    arguments: Mapping[str, JSON]
    outputs: Mapping[str, JSON] | None
    error: str | None
    cost: Cost
    enhancement: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one execution; whoever passes one has failed.

    Attributes:
        calls: of operators, and likewise of the executor model.
        tokens: read and written by the executor model.
        seconds: as :attr:`Cost.seconds` counts them.
        bytes: of all arguments and outputs of operators together, as UTF-8.

    Raises:
        ValueError: a limit is not above 0.
    """

    calls: int
    tokens: int
    seconds: float
    bytes: int

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"{field.name} must be above 0, got {getattr(self, field.name)}")
