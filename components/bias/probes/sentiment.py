"""Sentiment: the same content between sentences of joy, grief, anger or fear."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, carrier, form, spread
from components.bias.changes import filler
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role
from components.bias.wording import pairs


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    _, before, behind = draw.choice(pairs("moods", "|"))
    response = carrier(text, turn)
    # One draw for both, so that no sentence comes twice.
    neutral = filler(f"{before} {behind}", draw)
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, f"{before} {response} {behind}"),
        Role.PLACEBO: form(text, f"{response} {neutral}"),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("sentiment", request.seed, _make, carried=True)


PROBE = Probe(
    name="sentiment",
    title="Is moved by the mood in which a response is written",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
