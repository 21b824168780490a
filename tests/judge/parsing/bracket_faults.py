"""Replies with a verdict in double brackets, by kind of fault; what each must be read as stands beside it by hand."""

import random
from collections.abc import Callable
from typing import NamedTuple

PROSE = (
    "The response keeps every constraint.",
    "Let me check: it has [1] and [2], but also [0].",
    "Of the ten sentences, 10 are short (a 1 in 1).",
    'It says "yes" to everything!',
    "先检查约束。",
    "",
)
STRANGE = ("10", "2", "-1", "0.5", "1.0", "11", "01", "yes", "no", "met", "1/1", "1, 0", "", "1]", "label")


class Bracket(NamedTuple):
    """One kind.

    Attributes:
        name: the kind.
        expected: what a reader must make of it: ``said`` for the verdict as said, or the reason for unknown.
        make: writes one such reply for a verdict of 1 or 0.
        cut: whether the server says that the reply was cut.
    """

    name: str
    expected: str
    make: Callable[[random.Random, int], str]
    cut: bool = False


def prose(dice: random.Random) -> str:
    return dice.choice(PROSE)


KINDS = (
    Bracket("label alone", "said", lambda d, v: f"[[{v}]]"),
    Bracket("label and explanation", "said", lambda d, v: f"[[{v}]] {prose(d)}\n{prose(d)}"),
    Bracket("white space before", "said", lambda d, v: f"\n  \t[[{v}]]{prose(d)}"),
    Bracket(
        "dressed label", "said", lambda d, v: d.choice(("**[[{}]]**", "`[[{}]]`", '"[[{}]]"', "# [[{}]]")).format(v)
    ),
    Bracket("white space inside", "said", lambda d, v: f"[[ {v} ]] {prose(d)}"),
    Bracket("prose, then the label", "said", lambda d, v: f"Checking. {prose(d)}\nVerdict: [[{v}]]"),
    Bracket("the same label twice", "said", lambda d, v: f"So: [[{v}]]. {prose(d)} Again: [[{v}]]"),
    Bracket("label first, the other one in the explanation", "said", lambda d, v: f"[[{v}]] and not [[{1 - v}]]"),
    Bracket("reasoning with the other label", "said", lambda d, v: f"<think>[[{1 - v}]]? {prose(d)}</think>[[{v}]]"),
    Bracket("reasoning that was opened in the prompt", "said", lambda d, v: f"{prose(d)} [[{1 - v}]]</think>\n[[{v}]]"),
    Bracket("cut behind the label", "said", lambda d, v: f"[[{v}]] The response ke", True),
    Bracket("both labels in prose", "contradictory", lambda d, v: f"Either [[{v}]] or [[{1 - v}]]."),
    Bracket("another number", "unparseable", lambda d, v: f"[[{d.choice(STRANGE)}]] {prose(d)}"),
    Bracket("another number at the end", "unparseable", lambda d, v: f"So: {prose(d)} [[{d.choice(STRANGE[:9])}]]"),
    Bracket("a label and another number", "unparseable", lambda d, v: f"So: [[{v}]] or [[{d.choice(STRANGE[:9])}]]"),
    Bracket("a bracket too many", "unparseable", lambda d, v: d.choice(("[[[{}]]]", "[[{}]]]", "[[[{}]]")).format(v)),
    Bracket("single brackets", "unparseable", lambda d, v: f"[{v}] {prose(d)}"),
    Bracket("no brackets", "unparseable", lambda d, v: f"{v}. {prose(d)}"),
    Bracket("words", "unparseable", lambda d, v: d.choice(("Yes, it does.", "met", "The verdict is 1"))),
    Bracket("half a label", "unparseable", lambda d, v: d.choice(("[[{}]", "[{}]]", "[[{}", "{}]]")).format(v)),
    Bracket("half a label, cut", "truncated", lambda d, v: f"Checking. {prose(d)} [[{v}", True),
    Bracket("a label in the middle, cut", "truncated", lambda d, v: f"At first sight [[{v}]], bu", True),
    Bracket("no label, cut", "truncated", lambda d, v: f"Checking each. {prose(d)}", True),
    Bracket("reasoning never closed", "truncated", lambda d, v: f"<think>{prose(d)} [[{v}]]"),
    Bracket("only reasoning", "empty_reply", lambda d, v: f"<think>[[{v}]]</think>\n"),
    Bracket("nothing", "empty_reply", lambda d, v: d.choice(("", " ", "\n\n"))),
    Bracket("refusal", "refused", lambda d, v: d.choice(("I cannot evaluate this.", "Sorry, I can't help with that."))),
)
