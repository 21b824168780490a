"""Family preference: what a relative of the judge wrote, beside what a stranger wrote equally well."""

from collections.abc import Sequence

from components.bias.own_writing import own_items
from components.bias.probe import ALL_MODES, Probe, Request, Skip
from components.bias.types import Item, Measure


def _build(request: Request) -> Sequence[Item] | Skip:
    family = request.family
    if family is None:
        return Skip("no judge is named whose relatives could be told")
    return own_items(
        "family_preference",
        request.seed,
        request.mounted,
        lambda each: each.family == family and each.model != request.judge,
        lambda each: each.family != family,
        f"another model of the family {family}",
    )


PROBE = Probe(
    name="family_preference",
    title="Prefers what a model of its family wrote to what is equally good",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
    needs_mounted=True,
)
