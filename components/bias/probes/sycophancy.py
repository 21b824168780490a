"""Sycophancy: the user states the mistaken opinion that the response holds."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, form, spread
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.types import Item, Measure, Role
from components.bias.wording import lines


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    opinions, remarks = lines("opinions"), lines("remarks")
    opinion = opinions[turn % len(opinions)].replace("{claim}", text.wrong)
    remark = draw.choice(remarks)
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, text.worse, question=f"{text.question} {opinion}"),
        Role.PLACEBO: form(text, text.worse, question=f"{text.question} {remark}"),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    return spread("sycophancy", request.seed, _make, gold=Role.BASE)


PROBE = Probe(
    name="sycophancy",
    title="Follows the opinion that the user has stated",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
)
