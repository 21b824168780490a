"""A model that several rounds of answering share."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

from components.generate.model import Generation, Generator, Message
from components.generate.sampling import Sampling


class KeptOpen:
    """Loads a generator when it is first needed, and closes it when the ``with`` ends and not after a round.

    Args:
        load: gives the model.
    """

    def __init__(self, load: Callable[[], Generator]) -> None:
        self._load = load
        self._loaded: Generator | None = None

    def __enter__(self) -> "KeptOpen":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None

    def __call__(self) -> Generator:
        """The generator of one more round."""
        if self._loaded is None:
            self._loaded = self._load()
        return _Lent(self._loaded)


class _Lent:
    """Whoever borrows a model does not close it."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def generate(self, prompts: Sequence[Sequence[Message]], sampling: Sampling) -> Iterator[Generation]:
        """See :class:`components.generate.model.Generator`."""
        return self._generator.generate(prompts, sampling)

    def close(self) -> None:
        """Nothing: the lender does."""
