"""Rates, effects, drifts and curves of which it is known what they are in truth."""

from dataclasses import dataclass

import numpy as np
from planted_agreement import share

from components.bias.findings.parting import Curve
from components.bias.findings.prediction import Arm

Draw = np.random.Generator


@dataclass(frozen=True)
class TwoRates:
    """Right responses with and without a factor, of the same texts or of others.

    Attributes:
        each: responses of a text with the factor, and without it.
        lines: thresholds of being accepted, with and without it.
        shared: whether both are of the same texts.
    """

    texts: int
    each: tuple[int, int]
    lines: tuple[float, float]
    shared: bool
    spread: float = 0.7

    def drawn(self, draw: Draw) -> tuple[np.ndarray, np.ndarray]:
        """Shape (texts, each): accepted or not."""
        shifts = draw.normal(0.0, self.spread, (2, self.texts, 1))
        if self.shared:
            shifts[1] = shifts[0]
        one, other = (
            (draw.normal(size=(self.texts, each)) < line + shift).astype(float)
            for each, line, shift in zip(self.each, self.lines, shifts, strict=True)
        )
        return one, other

    def difference(self) -> float:
        return share(self.lines[0], self.spread) - share(self.lines[1], self.spread)


@dataclass(frozen=True)
class TwoEffects:
    """An item's effect without and with a remedy, normal, of items that are alike within a text."""

    texts: int
    each: int
    plain: float
    remedied: float
    sd: float = 0.25
    likeness: float = 0.2
    kept: float = 0.7

    def drawn(self, draw: Draw) -> np.ndarray:
        """Shape (texts, items, 2)."""
        text = draw.normal(0.0, self.sd * self.likeness**0.5, (self.texts, 1))
        own = draw.normal(0.0, self.sd * (1 - self.likeness) ** 0.5, (self.texts, self.each))
        rest = draw.normal(0.0, self.sd * (1 - self.kept**2) ** 0.5, (self.texts, self.each))
        return np.stack([self.plain + text + own, self.remedied + self.kept * (text + own) + rest], axis=-1)


@dataclass(frozen=True)
class Lengths:
    """Wins that depend on length by the curve that is fitted; items of one text are alike by a common draw."""

    texts: int
    each: int
    intercept: float
    slope: float
    mean: float
    likeness: float = 0.4

    def drawn(self, draw: Draw) -> tuple[np.ndarray, np.ndarray]:
        """Wins and differences in length, shape (texts, items); the differences have spread 1."""
        shape = (self.texts, self.each)
        longer = draw.normal(self.mean, 1.0, shape)
        common = np.broadcast_to(draw.random((self.texts, 1)), shape)
        luck = np.where(draw.random(shape) < self.likeness, common, draw.random(shape))
        return (luck < self._chance(longer)).astype(float), longer

    def controlled(self) -> float:
        return float(self._chance(np.zeros(1))[0])

    def raw(self) -> float:
        """By Gauss and Hermite."""
        at, weights = np.polynomial.hermite_e.hermegauss(60)
        return float((weights * self._chance(self.mean + at)).sum() / weights.sum())

    def _chance(self, longer: np.ndarray) -> np.ndarray:
        return np.asarray(1.0 / (1.0 + np.exp(-(self.intercept + self.slope * np.tanh(longer)))))


@dataclass(frozen=True)
class Drifts:
    """Arms whose drift is ``slope`` times the judge's bias, plus normal draws of judge, seed and rest.

    Attributes:
        missing: share of the arms that failed; a judge keeps one at least.
    """

    judges: int
    seeds: int
    judge_sd: float
    seed_sd: float = 0.1
    rest_sd: float = 0.1
    slope: float = 0.8
    missing: float = 0.0

    def drawn(self, draw: Draw) -> list[Arm]:
        biases = np.linspace(-0.2, 0.4, self.judges)
        judges = draw.normal(0.0, self.judge_sd, self.judges)
        seeds = draw.normal(0.0, self.seed_sd, self.seeds)
        arms = []
        for judge in range(self.judges):
            for seed in range(self.seeds):
                drift = self.slope * biases[judge] + judges[judge] + seeds[seed] + draw.normal(0.0, self.rest_sd)
                if seed == judge % self.seeds or draw.random() >= self.missing:
                    arms.append(Arm(f"j{judge}", seed, float(biases[judge]), float(drift)))
        return arms


@dataclass(frozen=True)
class Opening:
    """Rewards of prompts whose proxy rises above gold from one look on.

    Attributes:
        step: the last before the gap opens.
        last: mean gap at the last step.
        noise: of a prompt's mean gap at one look.
    """

    prompts: int
    steps: tuple[int, ...]
    step: int
    last: float
    noise: float = 0.15

    def drawn(self, draw: Draw) -> tuple[Curve, Curve]:
        """Proxy and gold."""
        steps = np.array(self.steps)
        own = draw.normal(0.0, 0.2, (self.prompts, 1))
        rise = draw.normal(self.last, self.last, (self.prompts, 1)) / (self.steps[-1] - self.step)
        gap = own + rise * np.maximum(0, steps - self.step) + draw.normal(0.0, self.noise, (self.prompts, len(steps)))
        gold = draw.normal(0.4, 0.2, (self.prompts, 1)) + draw.normal(0.0, self.noise, gap.shape)
        return _curve(self.steps, gold + gap), _curve(self.steps, gold)


def _curve(steps: tuple[int, ...], table: np.ndarray) -> Curve:
    return {step: {f"p{n}": float(table[n, at]) for n in range(len(table))} for at, step in enumerate(steps)}
