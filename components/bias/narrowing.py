"""Fewer criteria a text, for judges whose calls are dear: the flip control keeps what it is about."""

import dataclasses
from collections.abc import Sequence

from components.bias.corpus import Text, texts
from components.bias.types import Item

LEAST = 2
"""One criterion that the worse answer fails, and one that it meets."""


def narrowed(items: Sequence[Item], most: int) -> list[Item]:
    """The items, with ``most`` criteria of their shipped text at most.

    Kept are the first criterion that the text's worse answer fails, the first that it meets, and then the first others,
    so that a judge who sees quality still tells the answers apart. An item stays whole where a form has criteria of its
    own: they may be the factor.

    Args:
        items: of any probe.
        most: at least :data:`LEAST`.

    Raises:
        ValueError: fewer are wanted.
    """
    if most < LEAST:
        raise ValueError(f"{most} criteria are too few: the flip control needs {LEAST}")
    shipped = {text.text_id: text for text in texts()}
    return [_narrow(item, shipped.get(item.text_id), most) for item in items]


def _narrow(item: Item, text: Text | None, most: int) -> Item:
    whole = [] if text is None else sorted(text.criteria)
    if text is None or any(sorted(form.criteria) != whole for form in item.forms.values()):
        return item
    places = range(len(text.criteria))
    pair = [text.fails[0], next(place for place in places if place not in text.fails)]
    kept = {text.criteria[place] for place in [*pair, *(each for each in places if each not in pair)][:most]}
    forms = {
        role: dataclasses.replace(form, criteria=tuple(each for each in form.criteria if each in kept))
        for role, form in item.forms.items()
    }
    return dataclasses.replace(item, forms=forms)
