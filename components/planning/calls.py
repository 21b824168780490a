"""How often a judge is asked."""

import dataclasses
from typing import TYPE_CHECKING, Final

from components.planning.assumptions import Assumptions
from components.planning.task_sets import judged_share

if TYPE_CHECKING:
    from components.core.spec import Experiment

_ONE: Final = frozenset({"likelihood_ratio", "rubric", "verif"})
"""Protocols with one call a sample, whatever its criteria."""
_NEVER_AGAIN: Final = frozenset({"likelihood_ratio", "rubric_token"})
"""Protocols that read numbers, not words; there is nothing to ask for again."""
MODELS: Final = 2
"""The policy before and after training; both answer the held-out prompts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Samples:
    """Responses that the judge is asked about.

    Attributes:
        training: rollouts, and the canaries beside them; none for a control arm.
        scoring: held-out responses of both models; none for a mixture, whose tests have metrics of their own.
    """

    training: int
    scoring: int


@dataclasses.dataclass(frozen=True, slots=True)
class Calls:
    """Calls to one judge about all samples of one kind.

    Attributes:
        expected: with the assumed share asked again; None where the number of criteria is not known.
        most: when every reply is unreadable and every call is repeated ``attempts`` times; None likewise.
        texts: prompts in one call; only a likelihood ratio sends several.
    """

    expected: float | None
    most: float | None
    texts: float | None


def samples_of(experiment: "Experiment") -> Samples:
    """Counted from steps, prompts and rollouts, and from held-out rows."""
    training = experiment.training
    rollouts = training.steps * training.prompts_per_step * training.rollouts_per_prompt
    canaries = canaries_of(experiment)
    if experiment.data.mixture is not None:
        return Samples(round(rollouts * judged_share(experiment)) + canaries if experiment.asks_judge else 0, 0)
    heldout = experiment.data.heldout_rows * experiment.evaluation.samples * MODELS
    return Samples(rollouts + canaries if experiment.reward.asks_in_training else 0, heldout)


def canaries_of(experiment: "Experiment") -> int:
    """Responses without content that the judge is shown in training. Their calls count as those about any response, a
    little too many tokens with them."""
    canaries = experiment.training.canaries
    return 0 if canaries is None else experiment.training.steps * canaries.per_step


def criteria_of(experiment: "Experiment", assumed: Assumptions) -> float | None:
    """Lines of a row's rubric that are left to the judge; None where only the rows know."""
    if experiment.data.mixture is not None:
        # The reference answer; rows without it are not among the samples.
        return 1.0
    if experiment.data.criteria:
        return float(sum(line.verifier == "llm" for line in experiment.data.criteria))
    return assumed.criteria


def calls_about(samples: int, experiment: "Experiment", attempts: int, assumed: Assumptions) -> Calls:
    """Calls to one judge about ``samples`` responses; ``attempts``: calls for one reply at the most."""
    protocol = experiment.reward.protocol
    lines = criteria_of(experiment, assumed)
    if samples == 0:
        return Calls(0.0, 0.0, 0.0)
    texts = 1.0 if protocol != "likelihood_ratio" else None if lines is None else lines + 1
    if protocol in _ONE:
        once: float | None = float(samples)
    elif lines is None:
        once = None
    else:
        once = samples * lines * (2 if protocol == "pairwise" else 1)
    if once is None:
        return Calls(None, None, texts)
    again = 0.0 if protocol in _NEVER_AGAIN else assumed.again
    return Calls(once * (1 + again), _most(protocol, samples, once, lines, attempts), texts)


def _most(protocol: str, samples: int, once: float, lines: float | None, attempts: int) -> float | None:
    if protocol in _NEVER_AGAIN:
        return once * attempts
    if protocol != "rubric":
        return once * 2 * attempts
    return None if lines is None else samples * rubric_asks(lines) * attempts


def rubric_asks(lines: float) -> float:
    """Most questions of the protocol rubric about one sample: all lines, then two halves, then every line that was not
    alone yet."""
    if lines <= 1:
        return 2.0
    alone = 2.0 if lines <= 2 else 1.0 if lines <= 3 else 0.0
    return 3.0 + lines - alone
