"""The items of a probe, with the limits that every probe keeps."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from components.bias.probe import Probe, Request, Skip
from components.bias.types import AGAINST_PLACEBO, Item, Measure, Role
from components.core.errors import ContractError

LEAST_ITEMS: Final = 200
"""Items that a probe must be able to give. A study may ask for fewer, and its report says how little they show."""
LEAST_TEXTS: Final = 40
"""Distinct texts that these are made from: items of one text are one cluster of the statistics."""


def items_of(probe: Probe, request: Request, count: int) -> list[Item] | Skip:
    """The first ``count`` items of each source of a probe, or why it has none.

    Args:
        probe: the probe.
        request: seed, mounted data and judge.
        count: how many; all there are where it asks for more.

    Raises:
        ContractError: the probe breaks the limits, or an item is none.
    """
    if count < 1:
        raise ContractError(f"{count} items are none", where=f"probe {probe.name}", remedy="ask for one or more")
    found = probe.build(request)
    if isinstance(found, Skip):
        return found
    # Decided items come beside those that the probe is about, and do not stand in for them.
    if probe.needs_mounted and (few := too_few([item for item in found if item.gold is None])) is not None:
        return Skip(f"what is mounted gives {few}")
    check(probe, found)
    taken: Counter[str] = Counter()
    first = []
    for item in spread(found):
        if taken[item.source] < count:
            taken[item.source] += 1
            first.append(item)
    return first


def spread(items: Sequence[Item]) -> list[Item]:
    """The same items in rounds over the texts of each source, so that any beginning has as many texts as can be."""
    seen: Counter[tuple[str, str]] = Counter()
    rounds = []
    for item in items:
        rounds.append(seen[item.source, item.text_id])
        seen[item.source, item.text_id] += 1
    return [items[place] for place in sorted(range(len(items)), key=rounds.__getitem__)]


def of_effect(items: Sequence[Item], measure: Measure) -> list[Item]:
    """The items that an effect is made of: where the changed form is held against a placebo, those that have one.

    Decided pairs, which have none, count for the agreement with gold alone
    (:attr:`components.bias.effects.Effect.apart`).

    Args:
        items: of one probe.
        measure: the probe's.
    """
    held = [item for item in items if Role.PLACEBO in item.forms]
    return held if held and measure in AGAINST_PLACEBO else list(items)


def check(probe: Probe, items: Sequence[Item]) -> None:
    """Refuse items that are too few, from too few texts, or not what items are.

    Raises:
        ContractError: says which.
    """
    where = f"probe {probe.name}"
    if (few := too_few(items)) is not None:
        raise ContractError(
            f"the probe gives {few}", where=where, remedy="write more texts; filling templates is not enough"
        )
    seen: set[str] = set()
    for item in items:
        if item.probe != probe.name or item.item_id in seen:
            raise ContractError(
                f"item {item.item_id!r} comes twice, or is of probe {item.probe!r}",
                where=where,
                remedy="name each item once",
            )
        seen.add(item.item_id)
        if not {Role.BASE, Role.CHANGED} <= set(item.forms):
            raise ContractError(
                f"item {item.item_id!r} has no base or nothing changed", where=where, remedy="give both"
            )
        if item.gold not in (None, Role.BASE, Role.CHANGED):
            raise ContractError(
                f"item {item.item_id!r}: gold is {item.gold}", where=where, remedy="base, changed or None"
            )


def too_few(items: Sequence[Item]) -> str | None:
    """How many items of how many texts there are, where these are too few; None where they are enough."""
    texts = len({item.text_id for item in items})
    if len(items) >= LEAST_ITEMS and texts >= LEAST_TEXTS:
        return None
    return f"{len(items)} items of {texts} texts, and it takes {LEAST_ITEMS} of {LEAST_TEXTS} at least"
