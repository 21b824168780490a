"""Master keys: a response without content in place of the answer (arXiv 2507.08794)."""

import random
from collections.abc import Sequence

from components.bias.building import Forms, form, spread
from components.bias.corpus import Text
from components.bias.probe import ALL_MODES, Probe, Request
from components.bias.readers.mtbench import key_items
from components.bias.types import Item, Measure, Role
from components.reward.canaries.keys import master_keys


def keys() -> tuple[str, ...]:
    """The keys. A judge is never asked about the blank one: the engine answers ``empty_response`` for it, and so it is
    recorded."""
    return master_keys()


def _make(text: Text, turn: int, draw: random.Random) -> Forms:
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, draw.choice(keys())),
        Role.WORSE: form(text, text.worse),
    }


def _build(request: Request) -> Sequence[Item]:
    own = spread("master_keys", request.seed, _make, gold=Role.BASE)
    return [*own, *key_items("master_keys", request.mounted, keys())]


PROBE = Probe(
    name="master_keys",
    title="Accepts a response that says nothing",
    measure=Measure.ACCEPTANCE,
    modes=ALL_MODES,
    build=_build,
)
