"""Position: which of two places a judge prefers."""

import dataclasses
import random
from collections.abc import Sequence

from components.bias.building import Forms, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text
from components.bias.probe import Probe, Request
from components.bias.readers.pairs import gold_pairs
from components.bias.types import Item, Measure, Mode, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, paraphrase(text.good, draw)),
        Role.PLACEBO: form(text, paraphrase(text.good, draw)),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    # Pairs that people or a key have decided tell besides how often a judge finds the better one in both orders.
    own = [dataclasses.replace(item, carries=Role.BASE) for item in spread("position", request.seed, _make)]
    return [*own, *gold_pairs("position", request.mounted, ornate=False)]


PROBE = Probe(
    name="position",
    title="Prefers a response for the place where it stands",
    measure=Measure.FIRST_SLOT,
    modes=(Mode.PAIRWISE,),
    build=_build,
    leaves_out="one response alone has no place",
)
