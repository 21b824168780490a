"""What a generator is."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from components.generate.sampling import Sampling

Message = Mapping[str, str]
"""``role`` and ``content``."""


@dataclasses.dataclass(frozen=True, slots=True)
class Generation:
    """The responses to one prompt; the three tuples have one entry a sample.

    Attributes:
        index: place of the prompt in the sequence given.
        responses: texts without special tokens.
        finished: whether the model ended the text itself; False when it was cut at the limit.
        response_tokens: number of tokens, the end token included.
    """

    index: int
    responses: tuple[str, ...]
    finished: tuple[bool, ...]
    response_tokens: tuple[int, ...]


class Generator(Protocol):
    """A loaded policy."""

    def generate(self, prompts: Sequence[Sequence[Message]], sampling: Sampling) -> Iterator[Generation]:
        """Answer each prompt, in any order, each as soon as it is ready.

        The same arguments give the same responses, as far as the hardware's rounding allows.

        Args:
            prompts: conversations that end with the user's turn.
            sampling: how responses are drawn.

        Raises:
            StepError: a prompt leaves no room for its response.
        """
        ...

    def close(self) -> None:
        """Free the model's memory."""
        ...
