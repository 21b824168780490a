"""What a run can show at best, told before it asks: the least effect that it can be expected to find."""

from collections.abc import Sequence
from typing import Final

from components.bias.items import of_effect
from components.bias.mounted import Mounted
from components.bias.power import assumed_sd, detectable
from components.bias.run import Part
from components.bias.types import SHIPPED

ALPHA: Final = 0.05


def told(parts: Sequence[Part]) -> list[str]:
    """A line a probe and mode."""
    found = []
    for part in parts:
        held = of_effect(part.items, part.probe.measure)
        items, texts = len(held), len({item.text_id for item in held})
        head = f"{part.probe.name:<18}{part.mode.value:<10}{items:>5} items of {texts:>3} texts"
        if len(part.items) > items:
            # They tell how often the judge agrees with the decision, and nothing of a shift.
            head += f" and {len(part.items) - items} decided pairs"
        if texts < 2:
            found.append(f"{head}: too few to find anything")
            continue
        spread = assumed_sd(part.probe.measure, part.mode)
        least = detectable(items, texts, spread, ALPHA)
        found.append(f"{head}: finds an effect of {least:.3f} or more (assumed spread of an item's effect: {spread})")
    return found


def unasked(parts: Sequence[Part], mounted: Mounted) -> list[str]:
    """A note where nothing of the mounted folder is asked; no line where something is, or nothing is mounted.

    Args:
        parts: of the plan that was made with ``mounted``.
        mounted: the user's folder.
    """
    if mounted.folder is None or any(item.source != SHIPPED for part in parts for item in part.items):
        return []
    return [
        f"note: nothing of {mounted.folder} is asked: none of these probes reads what it holds; docs/probes.md says "
        "which ones read what"
    ]
