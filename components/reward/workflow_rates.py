"""How a training step's workflows did, as the trackers show it; the monitor counts in the same way."""

from collections.abc import Mapping, Sequence
from typing import Final

SPENT: Final = ("calls", "tokens", "seconds")
"""Parts of a sample whose workflow was executed: operators called, the executor model's tokens, and its seconds."""


def workflow_rates(samples: Sequence[tuple[float | None, Mapping[str, float | None]]]) -> dict[str, float]:
    """Shares and costs of a step.

    Args:
        samples: reward, None where it abstained, and parts of each.

    Returns:
        ``valid_rate`` of the responses of which it is known whether they keep the contract; ``right_rate`` of those
        with a reward, where no answer and no workflow are not right; ``calls``, ``tokens`` and ``seconds`` by
        executed workflow. What is a share or a mean of nothing is left out.
    """
    valid = [part for _, parts in samples if (part := parts.get("valid")) is not None]
    right = [parts.get("right") == 1.0 for reward, parts in samples if reward is not None]
    found: dict[str, float] = {}
    for name, values in (("valid_rate", valid), ("right_rate", right)):
        if values:
            found[name] = sum(values) / len(values)
    for name in SPENT:
        amounts = [part for _, parts in samples if (part := parts.get(name)) is not None]
        if amounts:
            found[name] = sum(amounts) / len(amounts)
    return found
