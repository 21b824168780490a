"""Retry inconsistency: the same question again."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, paraphrase(text.good, draw)),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("retry", request.seed, _make)


PROBE = Probe(
    name="retry",
    title="Says something else when it is asked the same again",
    measure=Measure.DISAGREEMENT,
    modes=ALL_MODES,
    build=_build,
    repeats=True,
)
