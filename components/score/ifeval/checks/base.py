"""What a check is."""

from abc import ABC, abstractmethod
from typing import Self

from components.score.ifeval.arguments import Arguments
from components.score.ifeval.text import Text
from components.score.ifeval.variants import Tendency


class Check(ABC):
    """One instruction with its arguments."""

    @classmethod
    @abstractmethod
    def build(cls, given: Arguments) -> Self:
        """Take the arguments.

        Raises:
            ContractError: one is missing or wrong.
        """

    @abstractmethod
    def follows(self, text: Text) -> bool:
        """Whether a text that is not blank follows the instruction."""

    @property
    def tendency(self) -> Tendency:
        """What can be told of shorter texts from longer ones."""
        return Tendency.EITHER

    def unsure(self, text: Text) -> bool:
        """Whether a text that follows does so only because its language could not be told."""
        return False


class Plain(Check):
    """A check without arguments."""

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """Nothing to take."""
        return cls()
