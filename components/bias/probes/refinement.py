"""Refinement: a note says that the response was revised, and the response is the same."""

import random
from collections.abc import Sequence

from components.bias.mounted import DataSet
from components.bias.probe import ALL_MODES, Probe, Request, Skip
from components.bias.readers.written import refinements
from components.bias.types import Form, Item, Measure, Role
from components.bias.wording import pairs


def _build(request: Request) -> Sequence[Item] | Skip:
    if not request.mounted.files(DataSet.REFINEMENTS):
        return Skip("it takes drafts that models refined, and no refinements*.jsonl is mounted (docs/probes.md)")
    found = []
    for number, each in enumerate(refinements(request.mounted)):
        draw = random.Random(f"{request.seed}/refinement/{each.text_id}/{number}")
        told, untold = draw.choice(pairs("histories", "|"))
        texts = {
            Role.BASE: each.draft,
            Role.CHANGED: f"{told} {each.refined}",
            Role.PLACEBO: f"{untold} {each.refined}",
        }
        forms = {role: Form(each.question, text, each.criteria) for role, text in texts.items()}
        found.append(Item("refinement", f"{each.text_id}.{number}", each.text_id, forms, "refinements", each.family))
    return found


PROBE = Probe(
    name="refinement",
    title="Prefers a response that is said to have been revised",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
    needs_mounted=True,
)
