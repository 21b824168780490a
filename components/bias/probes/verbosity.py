"""Verbosity: the same content, said again in other words."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, carrier, form, spread
from components.bias.changes import paraphrase, restated
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    response = carrier(text, turn)
    # Rounds 0 and 1 say the half again, 2 and 3 everything; the good answer gets it gathered at the end.
    long = restated(response, draw, share=0.5 if turn < 2 else 1.0, gathered=turn % 2 == 1)
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, long),
        Role.PLACEBO: form(text, paraphrase(response, draw)),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("verbosity", request.seed, _make, carried=True)


PROBE = Probe(
    name="verbosity",
    title="Prefers a response that says the same at greater length",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
