"""Bandwagon: a claim that most people agree."""

import functools
import random
from collections.abc import Sequence

from components.bias.building import PLACES, Forms, added, carrier, spread
from components.bias.changes import filler, inserted
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure
from components.bias.wording import lines


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    addition = draw.choice(lines("crowds"))
    put = functools.partial(inserted, place=PLACES[turn])
    return added(text, carrier(text, turn), addition, filler(addition, draw), put)


def _build(request: Request) -> Sequence[Item]:
    return spread("bandwagon", request.seed, _make, carried=True)


PROBE = Probe(
    name="bandwagon",
    title="Believes a response that says that most agree with it",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
