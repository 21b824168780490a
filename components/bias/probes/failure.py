"""Failure by length and format: responses about which the judge's own reply fails more often.

What cannot be judged is masked in training, so that such responses escape the reward; where failures count as zero they
are punished instead. Either way the policy is moved by what the judge cannot read.
"""

import random
from collections.abc import Sequence

from components.bias.building import Forms, carrier, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text
from components.bias.formats import STRAINS, strained
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    response, strain = carrier(text, turn), draw.choice(STRAINS)
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, strained(response, strain)),
        Role.PLACEBO: form(text, paraphrase(response, draw)),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("failure", request.seed, _make, carried=True)


PROBE = Probe(
    name="failure",
    title="Fails to give a verdict on long or oddly formed responses",
    measure=Measure.FAILURE,
    modes=ALL_MODES,
    build=_build,
)
