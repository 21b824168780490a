"""The likelihood-ratio protocol, for judges too small to be asked a question.

A criterion's evidence is log p(response | "write a text that meets the criterion") - log p(response | "write a text"),
in nats, by the judge's own probabilities of the response's tokens. The probability of the criterion being met is its
sigmoid after division by a temperature. It ranks responses; it is no calibrated probability.

The unconditioned prompt shows, beside ordinary texts, texts that talk about their task. A response that parrots the
criterion ("The sentence mentions an animal.") is then likely without the criterion too, and gains nothing by it.
"""

import hashlib
import math
from collections.abc import Sequence

from components.judge.echo import Scored
from components.judge.neutral import neutralise
from components.judge.protocols.template import Template
from components.judge.verdict import Sample

NAME = "likelihood_ratio"
_VERSION = 1
"""Raised when this module changes what a verdict means."""


class LikelihoodRatio:
    """Builds the prompts of a sample and turns their log-probabilities into probabilities.

    Args:
        conditioned: template with ``{criterion}``.
        unconditioned: template without it.
        temperature: divides the log ratio, in nats; above 0.
    """

    def __init__(self, conditioned: Template, unconditioned: Template, temperature: float) -> None:
        self._conditioned = conditioned
        self._unconditioned = unconditioned
        self._temperature = temperature
        content = f"{_VERSION}:{conditioned.digest}:{unconditioned.digest}:{temperature!r}"
        self.version = f"{NAME}/{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    def prefixes(self, sample: Sample) -> list[str]:
        """Prompts up to the response: the unconditioned one, then one a criterion in order."""
        question = neutralise(sample.question)
        plain = self._unconditioned.prefix({"question": question})
        return [
            plain,
            *(
                self._conditioned.prefix({"question": question, "criterion": neutralise(criterion.text)})
                for criterion in sample.criteria
            ),
        ]

    @staticmethod
    def response(sample: Sample) -> str:
        """The response as it is judged: without outer white space, which belongs to no text in particular, and with
        control-token markers broken."""
        return neutralise(sample.response.strip())

    def probability(self, log_ratio: float) -> float:
        """sigmoid(log ratio / temperature)."""
        scaled = log_ratio / self._temperature
        if scaled >= 0:
            return 1.0 / (1.0 + math.exp(-scaled))
        grown = math.exp(scaled)
        return grown / (1.0 + grown)

    @staticmethod
    def log_ratios(scored: Sequence[Scored]) -> list[float]:
        """One log ratio a criterion, from the prompts of :meth:`prefixes` in their order."""
        return [each.total - scored[0].total for each in scored[1:]]
