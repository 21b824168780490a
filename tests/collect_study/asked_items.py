"""Outcomes of a judge that is a function."""

from collections.abc import Callable, Sequence

from components.bias.types import Item, Mode, Outcome, Role

Says = Callable[[Item, Role, str | None], float | None]


def asked(name: str, probe: str, mode: Mode, items: Sequence[Item], says: Says, reason: str) -> list[Outcome]:
    """What the judge makes of every form of the items, in both orders where it is asked pairwise; ``reason`` is
    that of its unknown values."""
    orders = ("base_first", "base_second") if mode is Mode.PAIRWISE else (None,)
    found = []
    for item in items:
        for role in item.forms:
            if mode is Mode.PAIRWISE and role is Role.BASE:
                continue
            for order in orders:
                value = says(item, role, order)
                why = reason if value is None else None
                about = (name, probe, mode, item.item_id, item.text_id, role, order)
                found.append(Outcome(*about, 0, value, why, None, 9, None, item.gold))
    return found
