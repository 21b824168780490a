"""Scale: the marks are explained from the best down, or are letters or Roman numbers."""

import dataclasses
import random
from collections.abc import Sequence
from typing import Final

from components.bias.building import Forms, carrier, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text
from components.bias.probe import Probe, Request
from components.bias.types import Item, Measure, Mode, Role

_NUMBERS: Final = ("1", "2", "3", "4", "5")
SCALES: Final = (
    (_NUMBERS, "down"),
    (("E", "D", "C", "B", "A"), "up"),
    (("I", "II", "III", "IV", "V"), "up"),
    (("E", "D", "C", "B", "A"), "down"),
)


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    scale, listing = draw.choice(SCALES)
    same = form(text, paraphrase(carrier(text, turn), draw))
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: dataclasses.replace(same, scale=scale, listing=listing),
        Role.PLACEBO: same,
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("scale", request.seed, _make, carried=True)


PROBE = Probe(
    name="scale",
    title="Gives other marks where the scale is written in another way",
    measure=Measure.SHIFT,
    modes=(Mode.POINTWISE,),
    build=_build,
    leaves_out="there is no scale of marks in this mode",
)
