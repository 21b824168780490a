"""What calls cost, and the limits on it."""

import dataclasses
from typing import TYPE_CHECKING, Self

from components.judge.calls import Usage

if TYPE_CHECKING:
    from components.core.spec.judge_limits import JudgeBudget, JudgePrice


@dataclasses.dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in ``currency``."""

    prompt: float
    completion: float
    cached: float
    currency: str

    @classmethod
    def of(cls, spec: "JudgePrice") -> Self:
        """The price of a specification; cached tokens cost as much as others where it gives no price of their own."""
        cached = spec.prompt if spec.cached is None else spec.cached
        return cls(spec.prompt, spec.completion, cached, spec.currency)

    def cost(self, usage: Usage) -> float:
        """Cost of one reply. Cached tokens are a part of the prompt's, as OpenAI and vLLM report them."""
        cached = min(usage.cached, usage.prompt)
        fresh = usage.prompt - cached
        return (fresh * self.prompt + cached * self.cached + usage.completion * self.completion) / 1e6


@dataclasses.dataclass(frozen=True, slots=True)
class Spent:
    """Sums over calls: repetitions included, tokens of prompts and replies, cost by the price table."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


class Budget:
    """Counts what a run spends on one judge, and says when a limit is reached.

    For one event loop. Ask :meth:`reserve` before each call and tell :meth:`spent` after it, also when it failed. The
    limit on calls is exact but for repetitions. Tokens and cost are known only afterwards: a call in flight counts as
    much as calls took on average so far, or as its caller guesses while there was none, so that many calls at once do
    not exceed a limit by more than they differ from that.

    Args:
        spec: the limits.
        price: what tokens cost; needed for a limit on cost.
        before: what this run spent earlier (:meth:`components.judge.memory.Ledger.spent`), so that a resumed run goes
            on counting.
    """

    def __init__(self, spec: "JudgeBudget", price: Price | None = None, before: Spent | None = None) -> None:
        if spec.cost is not None and price is None:
            raise ValueError("a limit on cost needs a price")
        self._spec = spec
        self._price = price
        before = before or Spent()
        self._calls, self._tokens, self._cost = before.calls, before.tokens, before.cost
        self._open = 0
        self._guess = Usage()

    @property
    def total(self) -> Spent:
        """What was spent so far; calls in flight are not in it."""
        return Spent(self._calls, self._tokens, self._cost)

    @property
    def reached(self) -> str | None:
        """Which limit is reached, and by how much; None while none is."""
        spec, flight = self._spec, ""
        if self._open:
            flight = f", and {self._open} calls in flight"
        if spec.calls is not None and self._calls + self._open >= spec.calls:
            return f"budget.calls: {self._calls} calls made of {spec.calls} allowed{flight}"
        if spec.tokens is not None and self._tokens + self._open * self._tokens_of_one() >= spec.tokens:
            return f"budget.tokens: {self._tokens} tokens used of {spec.tokens} allowed{flight}"
        price = self._price
        if spec.cost is None or price is None or self._cost + self._open * self._cost_of_one(price) < spec.cost:
            return None
        return f"budget.cost: {self._cost:.6g} of {spec.cost:.6g} {price.currency} spent{flight}"

    def reserve(self, guess: Usage = Usage()) -> bool:  # noqa: B008  it is frozen
        """Take one call from the budget; False when a limit is reached, and then nothing is taken.

        Args:
            guess: tokens that it may take, of use as long as no call has ended.
        """
        if self.reached is not None:
            return False
        self._open += 1
        self._guess = guess
        return True

    def spent(self, usage: Usage, calls: int) -> None:
        """Settle one reservation.

        Args:
            usage: tokens that the server counted, for failures too where it said so.
            calls: HTTP calls made, repetitions included; 0 gives the reservation back.
        """
        self._open = max(0, self._open - 1)
        self._calls += calls
        self._tokens += usage.prompt + usage.completion
        if self._price is not None:
            self._cost += self._price.cost(usage)

    def _tokens_of_one(self) -> float:
        return self._tokens / self._calls if self._calls else self._guess.prompt + self._guess.completion

    def _cost_of_one(self, price: Price) -> float:
        return self._cost / self._calls if self._calls else price.cost(self._guess)
