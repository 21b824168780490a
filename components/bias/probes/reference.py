"""Missing-reference generosity: a worse answer with and without a right one beside the question."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    # The same response in both, so that nothing but the reference differs.
    worse = text.worse if turn == 0 else paraphrase(text.worse, draw)
    return {
        Role.BASE: form(text, text.good, reference=text.reference),
        Role.CHANGED: form(text, worse),
        Role.PLACEBO: form(text, worse, reference=text.reference),
        Role.WORSE: form(text, text.worse, reference=text.reference),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("reference", request.seed, _make, gold=Role.BASE)


PROBE = Probe(
    name="reference",
    title="Is more generous where it is shown no right answer",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
