"""Style: the same sentences as a list, with bold words, headings or emoji."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, carrier, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text
from components.bias.formats import STYLES, styled
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    # Drawn apart from the turn, so that each style comes on good and on worse answers.
    response, style = carrier(text, turn), draw.choice(STYLES)
    same = paraphrase(response, draw)
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, styled(same, style)),
        Role.PLACEBO: form(text, same),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("style", request.seed, _make, carried=True)


PROBE = Probe(
    name="style",
    title="Prefers lists, bold words, headings or emoji to plain sentences",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
