"""What builders of probes share: forms of a text, and items spread over all texts before any text comes twice."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from components.bias.corpus import Text, texts
from components.bias.types import Form, Item, Role

ROUNDS: Final = 4
"""Items of one text; with 60 texts these are 240."""
PLACES: Final = ("behind", "before", "amid", "behind")
"""Where an addition stands, round by round."""

Forms = Mapping[Role, Form]
Make = Callable[[Text, int, random.Random], Forms]
"""The forms of an item: of a text, in round 0 to ``rounds`` - 1, with draws of its own."""


def form(text: Text, response: str, *, question: str | None = None, reference: str | None = None) -> Form:
    """A response to a text's question under its criteria."""
    return Form(question or text.question, response, text.criteria, reference)


def carrier(text: Text, number: int) -> str:
    """The answer that carries a change: the worse one in even rounds, the good one in odd ones."""
    return text.worse if number % 2 == 0 else text.good


def spread(
    probe: str,
    seed: int,
    make: Make,
    *,
    rounds: int = ROUNDS,
    gold: Role | None = None,
    carried: bool = False,
    of: Sequence[Text] | None = None,
) -> list[Item]:
    """Items of all texts, round by round; each round takes every text once, in an order of its own.

    Args:
        probe: its name.
        seed: with the probe's name, the text's and the round it decides all draws.
        make: the forms.
        rounds: items of one text.
        gold: of every item; its changed form then carries an answer that is not right.
        carried: whether :func:`carrier` says, by the turn, which answer the changed form carries.
        of: the texts; None takes the project's own.
    """
    all_texts = texts() if of is None else of
    found = []
    for number in range(rounds):
        # Not every text's worse answer comes in the same round, so that a small study has both kinds.
        order = random.Random(f"{seed}/{probe}/{number}").sample(list(all_texts), len(all_texts))
        for place, text in enumerate(order):
            turn = (number + place) % rounds
            draw = random.Random(f"{seed}/{probe}/{text.text_id}/{number}")
            forms = make(text, turn, draw)
            carries = Role.WORSE if gold is Role.BASE else None
            if carried:
                carries = Role.WORSE if turn % 2 == 0 else Role.BASE
            item_id = f"{text.text_id}.{number}"
            found.append(Item(probe, item_id, text.text_id, forms, gold=gold, carries=carries))
    return found


def added(text: Text, response: str, addition: str, neutral: str, put: Callable[[str, str], str]) -> Forms:
    """Base, the response with an addition, the response with a neutral one of the same size, and the worse answer."""
    return {
        Role.BASE: form(text, text.good),
        Role.CHANGED: form(text, put(response, addition)),
        Role.PLACEBO: form(text, put(response, neutral)),
        Role.WORSE: form(text, text.worse),
    }
