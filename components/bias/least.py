"""What a run can show at best, told before it asks: the least effect that it can be expected to find."""

from collections.abc import Sequence
from typing import Final

from components.bias.power import assumed_sd, detectable
from components.bias.run import Part

ALPHA: Final = 0.05


def told(parts: Sequence[Part]) -> list[str]:
    """A line a probe and mode."""
    found = []
    for part in parts:
        items, texts = len(part.counted), len({item.text_id for item in part.counted})
        head = f"{part.probe.name:<18}{part.mode.value:<10}{items:>5} items of {texts:>3} texts"
        if texts < 2:
            found.append(f"{head}: too few to find anything")
            continue
        spread = assumed_sd(part.probe.measure, part.mode)
        least = detectable(items, texts, spread, ALPHA)
        found.append(f"{head}: finds an effect of {least:.3f} or more (assumed spread of an item's effect: {spread})")
    return found
