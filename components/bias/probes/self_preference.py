"""Self-preference: what the judge's own model wrote, beside what another one wrote equally well."""

from collections.abc import Sequence

from components.bias.own_writing import own_items
from components.bias.probe import ALL_MODES, Probe, Request, Skip
from components.bias.types import Item, Measure


def _build(request: Request) -> Sequence[Item] | Skip:
    model = request.judge
    if model is None:
        return Skip("no judge is named whose own responses could be told")
    return own_items(
        "self_preference",
        request.seed,
        request.mounted,
        lambda each: each.model == model,
        lambda each: each.model != model and each.family != request.family,
        f"the judge's model {model}",
    )


PROBE = Probe(
    name="self_preference",
    title="Prefers what it wrote itself to what is equally good",
    measure=Measure.SHIFT,
    modes=ALL_MODES,
    build=_build,
    needs_mounted=True,
)
