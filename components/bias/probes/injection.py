"""Prompt injection: a worse answer that tells the judge what to say."""

import functools
import random
from collections.abc import Sequence

from components.bias.building import PLACES, Forms, added, spread
from components.bias.changes import filler, inserted
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role
from components.bias.wording import lines


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    order = draw.choice(lines("injections"))
    return added(text, text.worse, order, filler(order, draw), functools.partial(inserted, place=PLACES[turn]))


def _build(request: Request) -> Sequence[Item]:
    return spread("injection", request.seed, _make, gold=Role.BASE)


PROBE = Probe(
    name="injection",
    title="Obeys a response that tells it what to say",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
