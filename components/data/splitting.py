"""Which prompts train and which are held out: by content and seed alone, never by position in a file."""

import hashlib
from collections.abc import Sequence

from components.core.errors import ConfigError
from components.core.identity import canonical_json
from components.data.item import Item


def rank(seed: int, *parts: str) -> str:
    """A key to sort by: looks random, and is the same on every machine and Python version."""
    return hashlib.sha256(canonical_json([seed, *parts], ascii=False).encode()).hexdigest()


def split_items(
    items: Sequence[Item], *, train_rows: int, heldout_rows: int, seed: int, where: str = ""
) -> tuple[list[Item], list[Item]]:
    """Divide ``items`` so that no template is in both splits.

    Whole templates go to the held-out split, in an order drawn from ``seed``, until it has enough rows; the other
    templates train. Reordering ``items`` changes nothing.

    Returns:
        The training items and the held-out items.

    Raises:
        ConfigError: there are too few items, or too few templates, for the row counts asked for.
    """
    groups: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda item: rank(seed, "row", item.question)):
        groups.setdefault(item.template, []).append(item)
    train: list[Item] = []
    heldout: list[Item] = []
    for template in sorted(groups, key=lambda name: rank(seed, "template", name)):
        (heldout if len(heldout) < heldout_rows else train).extend(groups[template])
    if len(heldout) < heldout_rows or len(train) < train_rows:
        raise ConfigError(
            f"{len(items)} prompts of {len(groups)} templates cannot give data.train_rows={train_rows} and "
            f"data.heldout_rows={heldout_rows}: kept apart by template they give {len(train)} and {len(heldout)}",
            where=where,
            remedy="lower the row counts, or add prompts and templates",
        )
    return train[:train_rows], heldout[:heldout_rows]


def check_disjoint(train: Sequence[Item], heldout: Sequence[Item], *, where: str = "") -> None:
    """Raise :class:`ConfigError` if a template or a question is in both splits."""
    for kind, shared in (
        ("templates", {item.template for item in train} & {item.template for item in heldout}),
        ("questions", {item.question for item in train} & {item.question for item in heldout}),
    ):
        if shared:
            raise ConfigError(
                f"{len(shared)} {kind} are in both splits, the first is {min(shared)!r}",
                where=where,
                remedy="held-out prompts must differ from the training prompts in their form; edit the source files",
            )
