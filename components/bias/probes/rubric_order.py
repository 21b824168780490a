"""Rubric order: the criteria that a worse answer fails stand first or last."""

import dataclasses
import random
from collections.abc import Sequence

from components.bias.building import Forms, form, spread
from components.bias.changes import paraphrase
from components.bias.corpus import Text
from components.bias.probe import Probe, Request
from components.bias.types import Form, Item, Measure, Mode, Role


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    failed = tuple(text.criteria[place] for place in text.fails)
    kept = tuple(line for line in text.criteria if line not in failed)
    # The same response in both, so that nothing but the order differs.
    response = text.worse if turn == 0 else paraphrase(text.worse, draw)

    def under(criteria: tuple[str, ...]) -> Form:
        return dataclasses.replace(form(text, response), criteria=criteria)

    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: under(kept + failed),
        Role.PLACEBO: under(failed + kept),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("rubric_order", request.seed, _make, gold=Role.BASE)


PROBE = Probe(
    name="rubric_order",
    title="Is milder where the criteria that fail stand last",
    measure=Measure.SHIFT,
    modes=(Mode.POINTWISE, Mode.BINARY),
    build=_build,
    leaves_out="two responses are compared without a rubric",
)
