"""The noise floor of a study's judges: what each says when it is asked the very same again."""

from collections.abc import Sequence
from typing import Final

from components.bias.estimate import Estimate
from components.bias.noise import noise
from components.bias.result_judges import Noise
from components.bias.types import Mode, Outcome
from components.collect_study.agreeing import of_clusters

NEVER: Final = "no probe asked the same twice: add retry to probes.names"
_EQUAL: Final = "all askings of all items got one value: alpha compares with chance, which has nothing to vary either"

_STILL: Final = "too little varies between texts for an interval; that of the contradicting share stands beside it"


def noises(outcomes: Sequence[Outcome]) -> list[Noise]:
    """A row for each mode in which questions were asked again; none where none was.

    Args:
        outcomes: of one judge. A question with one known answer, its repetitions unknown, tells nothing and is counted.
    """
    found = []
    for mode in Mode:
        mine = [each for each in outcomes if each.mode is mode]
        repeated = {(each.probe, each.item_id) for each in mine if each.repeat > 0}
        again = [each for each in mine if (each.probe, each.item_id) in repeated]
        if not again:
            continue
        told = noise(again)
        why = "no question has two known answers"
        if told.alpha is None:
            alpha_why = why if told.flips.value is None else _EQUAL
        else:
            alpha_why = "fewer than two texts" if told.flips.texts < 2 else _STILL
        found.append(
            Noise(
                mode=mode,
                repeats=1 + max(each.repeat for each in again),
                flips=of_clusters(told.flips, told.single, why),
                apart=of_clusters(told.apart, told.single, why),
                alpha=Estimate.of(
                    told.alpha,
                    told.alpha_low,
                    told.alpha_high,
                    n=told.questions,
                    clusters=told.flips.texts,
                    unknown=told.single,
                    why=alpha_why,
                ),
            )
        )
    return found
