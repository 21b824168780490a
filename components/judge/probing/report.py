"""What a probe saw."""

import dataclasses

from components.core.manifest import Scalar

NOISE = 0.05
"""By how much two answers to one question may differ (nats, or probability): servers that batch in low precision are
not exact."""

SLIGHT = 0.005
"""Difference of the known pair's probabilities below which it says nothing of the judge either way."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProbeReport:
    """What was seen.

    Attributes:
        judge: name of the judge.
        url: base URL.
        model: the model's name at the server.
        protocol: name and version of the protocol.
        context: tokens that the server says it reads; None if it does not say.
        latency: seconds of the second of two equal questions.
        tokens_per_second: prompt tokens of that question over its latency; None if the server does not count them.
        difference: largest difference between two equal questions: of a log-probability in nats for the likelihood
            ratio, else of the verdict's probability.
        met: probability of a criterion that a known text meets; 1 or 0 where the protocol says yes or no.
        unmet: the same for a text that misses it.
        counted: how prompts are counted, to see what does not fit.
    """

    judge: str
    url: str
    model: str
    protocol: str
    context: int | None
    latency: float
    tokens_per_second: float | None
    difference: float
    met: float
    unmet: float
    counted: str = "not told"

    def table(self) -> list[str]:
        """Lines for people."""
        repeatable = "yes" if self.difference <= NOISE else "NO"
        unit = " nats" if self.protocol.startswith("likelihood_ratio/") else ""
        if 0 < abs(self.met - self.unmet) < SLIGHT:
            ranks = "no difference to speak of"
        elif self.met > self.unmet:
            ranks = "as it should be"
        elif self.met == self.unmet:
            ranks = "it does not tell them apart"
        else:
            ranks = "THE WRONG WAY ROUND: this judge may be of no use"
        digits = next((n for n in range(2, 6) if f"{self.met:.{n}f}" != f"{self.unmet:.{n}f}"), 2)
        met, unmet = f"{self.met:.{digits}f}", f"{self.unmet:.{digits}f}"
        speed = "" if self.tokens_per_second is None else f", {self.tokens_per_second:.0f} tokens a second"
        rows = [
            ("judge", f"{self.judge} ({self.model} at {self.url})"),
            ("asked by", self.protocol),
            ("context", "not told" if self.context is None else f"{self.context} tokens"),
            ("prompts are counted by", self.counted),
            ("same question, same answer", f"{repeatable} (largest difference {self.difference:.2g}{unit})"),
            ("latency of one verdict", f"{self.latency:.2f} s{speed}"),
            ("known pair", f"{met} for one that meets, {unmet} for one that misses: {ranks}"),
        ]
        width = max(len(name) for name, _ in rows)
        return [f"{name:<{width}}  {text}" for name, text in rows]

    def metadata(self) -> dict[str, Scalar]:
        """The same as plain values."""
        return dataclasses.asdict(self)
