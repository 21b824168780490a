"""Which of many effects count as found, when every one more is one more chance to be wrong."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.effects import Effect

RATE: Final = 0.05


@dataclasses.dataclass(frozen=True, slots=True)
class Adjusted:
    """An effect among all effects of its judge.

    Attributes:
        effect: as measured.
        holm: p after Holm's rule; None where the effect has none.
        fdr: p after Benjamini and Hochberg's rule, the share of false findings; None where the effect has none.
        tests: effects with a p in the judge's family.
        flagged: whether ``holm`` is at most the rate. With Holm's rule the chance that an unbiased judge is flagged on
            any axis at all is at most the rate, whatever the axes have to do with each other.
    """

    effect: Effect
    holm: float | None
    fdr: float | None
    tests: int
    flagged: bool


def adjusted(effects: Iterable[Effect], rate: float = RATE) -> list[Adjusted]:
    """Judge by judge over all its probes and modes; in the order given within a judge.

    Args:
        effects: of any judges.
        rate: chance of flagging anything about a judge without a bias, in (0, 1).

    Raises:
        ValueError: the rate is outside (0, 1).
    """
    if not 0.0 < rate < 1.0:
        raise ValueError(f"rate {rate} is not between 0 and 1")
    families: dict[str, list[Effect]] = defaultdict(list)
    for effect in effects:
        families[effect.judge].append(effect)
    found = []
    for family in families.values():
        tested = [effect.bias.p for effect in family if effect.bias.p is not None]
        first, second = iter(holm(tested)), iter(benjamini_hochberg(tested))
        for effect in family:
            if effect.bias.p is None:
                found.append(Adjusted(effect, None, None, len(tested), False))
                continue
            p = next(first)
            found.append(Adjusted(effect, p, next(second), len(tested), p <= rate))
    return found


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p by Holm's (1979) step-down rule, in the order given.

    Raises:
        ValueError: a p is outside [0, 1].
    """
    order, ranked = _ranked(p)
    n = len(p)
    steps = np.minimum(1.0, np.maximum.accumulate(ranked * (n - np.arange(n)))) if n else ranked
    return _restored(order, steps)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjusted p by Benjamini and Hochberg's (1995) step-up rule, in the order given.

    Raises:
        ValueError: a p is outside [0, 1].
    """
    order, ranked = _ranked(p)
    n = len(p)
    steps = np.minimum.accumulate((ranked * n / np.arange(1, n + 1))[::-1])[::-1] if n else ranked
    return _restored(order, np.minimum(1.0, steps))


def _ranked(p: Sequence[float]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    values = np.asarray(p, dtype=np.float64)
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("a p is outside [0, 1]")
    order = np.argsort(values, kind="stable")
    return order, values[order]


def _restored(order: NDArray[np.intp], ranked: NDArray[np.float64]) -> list[float]:
    found = np.empty(len(ranked))
    found[order] = ranked
    return [float(value) for value in found]
