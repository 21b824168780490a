"""Fallacy oversight: an argument that proves nothing, for an answer that is wrong."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, added, spread
from components.bias.changes import filler, inserted
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role
from components.bias.wording import pairs


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    _, argument = draw.choice(pairs("fallacies", "|"))
    return added(
        text, text.worse, argument, filler(argument, draw), lambda response, more: inserted(response, more, "behind")
    )


def _build(request: Request) -> Sequence[Item]:
    return spread("fallacy", request.seed, _make, gold=Role.BASE)


PROBE = Probe(
    name="fallacy",
    title="Is convinced by an argument that proves nothing",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
