"""The order in which a mixture's prompts are drawn: shares by largest remainder, with what is left carried over.

A batch of four at 4:3:3 cannot hold 1.6, 1.2 and 1.2 prompts. Each batch gets whole numbers, and what a domain has too
little or too much of is carried into the next one, so that ten batches hold 16, 12 and 12. Everything follows from the
plan, the rows, the seed and the size of a batch: the order after any number of draws can be found again by counting.
"""

import functools
import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from components.core.draw import DrawPlan
from components.core.errors import ContractError
from components.core.identity import digest


class Shares:
    """Divides numbers among keys so that the sums keep to the weights.

    Args:
        weights: key -> weight, at least 0.
    """

    def __init__(self, weights: Mapping[str, Fraction]) -> None:
        self._weights = {key: weight for key, weight in sorted(weights.items()) if weight > 0}
        self._credit = dict.fromkeys(self._weights, Fraction(0))

    def take(self, total: int, room: Mapping[str, int]) -> Counter[str]:
        """Divide ``total``: largest remainders of quota and carry-over; of equal ones the heavier key's, then by name.

        Args:
            total: to be divided.
            room: the most that each key can take; what one cannot goes to the others in the ratio of their weights.

        Returns:
            What each gets; less than ``total`` together only where there is no more room.
        """
        left = {key: room[key] for key in self._weights}
        for key in self._weights:
            if left[key] <= 0:
                self._hand_on(key, left)
        self._grant(Fraction(total), left)
        taken: Counter[str] = Counter()
        for _ in range(total):
            open_ = [key for key in self._weights if left[key] > 0]
            if not open_:
                break
            key = max(open_, key=lambda each: (self._credit[each], self._weights[each]))
            taken[key] += 1
            left[key] -= 1
            self._credit[key] -= 1
            if not left[key]:
                self._hand_on(key, left)
        return taken

    def _grant(self, amount: Fraction, left: Mapping[str, int]) -> None:
        open_ = [key for key in self._weights if left[key] > 0]
        whole = sum((self._weights[key] for key in open_), Fraction(0))
        for key in open_:
            self._credit[key] += amount * self._weights[key] / whole

    def _hand_on(self, key: str, left: Mapping[str, int]) -> None:
        """What a key that has no room left is owed, the others get."""
        owed, self._credit[key] = self._credit[key], Fraction(0)
        self._grant(owed, left)


class Draw:
    """An endless iterator over row numbers.

    No row is drawn more than ``plan.repeat_cap`` times as long as there is another one below the cap. When all have
    reached it, as only refilled groups can bring about in a run that fits its data, the counting begins anew, and
    :attr:`over_cap` tells how many prompts that were.

    Args:
        plan: the shares.
        sources: the set of each row of the training table.
        batch: prompts in a batch.
        seed: of the experiment.

    Raises:
        ContractError: a row is of a set that the plan does not know, or there is no row to draw.
    """

    def __init__(self, plan: DrawPlan, sources: Sequence[str], *, batch: int, seed: int) -> None:
        rows: dict[str, list[int]] = {name: [] for name in sorted(plan.domains)}
        for number, name in enumerate(sources):
            if name not in rows:
                raise ContractError(
                    f"row {number} is of set {name!r}, which draw.json does not know",
                    remedy="run the step prepare-data again",
                )
            rows[name].append(number)
        self._plan, self._batch, self._seed = plan, batch, seed
        self._rows = {name: rows[name] for name in plan.drawn_from() if rows[name]}
        if not self._rows:
            raise ContractError("no row of a set with a weight is there to be drawn", where="draw.json")
        self._members: dict[str, list[str]] = {}
        for name in self._rows:
            self._members.setdefault(plan.domains[name], []).append(name)
        self._domains = Shares({domain: _exact(plan.weights[domain]) for domain in self._members})
        self._sets = {
            domain: Shares({name: Fraction(len(self._rows[name]) if plan.by_size else 1) for name in names})
            for domain, names in self._members.items()
        }
        self._decks = {name: _passes(found, f"{seed}/{name}") for name, found in self._rows.items()}
        self._room = self._full()
        self._rounds = 0
        self._batches = 0
        self._waiting: deque[tuple[str, int]] = deque()
        self.drawn: Counter[str] = Counter()
        """Set -> prompts drawn so far."""
        self.newest = ""
        """Set of the newest prompt."""
        self.over_cap = 0
        """Prompts drawn after all rows had reached the cap."""

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if not self._waiting:
            self._next_batch()
        name, rounds = self._waiting.popleft()
        self.drawn[name] += 1
        self.newest = name
        self.over_cap += rounds > 0
        return next(self._decks[name])

    @property
    def count(self) -> int:
        """Prompts drawn so far."""
        return self.drawn.total()

    @property
    def epochs(self) -> dict[str, float]:
        """Set -> passes over its rows so far."""
        return {name: self.drawn[name] / len(found) for name, found in self._rows.items()}

    @functools.cached_property
    def identity(self) -> str:
        """What the order depends on, as a hash."""
        plan = self._plan
        return digest(
            {
                "weights": dict(plan.weights),
                "by_size": plan.by_size,
                "cap": plan.repeat_cap,
                "rows": self._rows,
                "batch": self._batch,
                "seed": self._seed,
            }
        )

    def skip(self, count: int) -> None:
        """Draw ``count`` prompts for nobody, as after a resume."""
        for _ in range(count):
            next(self)

    def _full(self) -> dict[str, int]:
        return {name: self._plan.repeat_cap * len(found) for name, found in self._rows.items()}

    def _next_batch(self) -> None:
        missing = self._batch
        while missing:
            room = {domain: sum(self._room[name] for name in names) for domain, names in self._members.items()}
            found: list[str] = []
            for domain, count in sorted(self._domains.take(missing, room).items()):
                for name, number in sorted(self._sets[domain].take(count, self._room).items()):
                    self._room[name] -= number
                    found += [name] * number
            # Refills take from the front of the next batch, which must not be one domain's.
            order = _shuffled(range(len(found)), f"{self._seed}/batch/{self._batches}")
            self._waiting.extend((found[place], self._rounds) for place in order)
            missing -= len(found)
            if missing:
                self._room = self._full()
                self._rounds += 1
        self._batches += 1


def _passes(rows: Sequence[int], name: str) -> Iterator[int]:
    """All rows, each pass in an order of its own."""
    passes = 0
    while True:
        yield from _shuffled(rows, f"{name}/pass/{passes}")
        passes += 1


def _shuffled(values: Iterable[int], name: str) -> list[int]:
    """The values by their hashes, an order that no version of a random generator changes."""
    return sorted(values, key=lambda value: hashlib.sha256(f"{name}/{value}".encode()).digest())


def _exact(weight: float) -> Fraction:
    """0.3 as three tenths, and not as the nearest binary number."""
    return Fraction(repr(weight))
