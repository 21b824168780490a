"""Polish versus instruction: a show-piece that answers another question."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text, texts
from components.bias.formats import polished
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.readers.pairs import gold_pairs
from components.bias.types import Item, Measure, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    # Of the same topic, so that the subject alone does not give it away.
    others = [other for other in texts() if other.topic == text.topic and other.text_id != text.text_id]
    astray = others[(turn + draw.randrange(len(others))) % len(others)].good
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, polished(astray)),
        Role.PLACEBO: form(text, paraphrase(astray, draw)),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    own = spread("polish", request.seed, _make, gold=Role.BASE)
    return [*own, *gold_pairs("polish", request.mounted, ornate=True)]


PROBE = Probe(
    name="polish",
    title="Is taken in by a polished response to another task",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
