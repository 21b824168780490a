"""Replies that choose between two responses, by kind of fault; what each must be read as stands beside it by hand."""

import json
import random
from collections.abc import Callable
from typing import NamedTuple

LABELS = {
    "first": ("first", "First", "FIRST", "the first", "Response 1", "first response", "1", 1, "**first**", "1st"),
    "second": ("second", "Second.", "SECOND", "the second", "Response 2", "second_response", "2", 2, " second ", "2nd"),
    "tie": ("tie", "Tie", "tied", "draw", "equal", "both", "neither", "no preference"),
}
KEYS = ("better", "Better", "winner", "preference", "choice", "verdict", "BETTER_")
STRANGE: tuple[object, ...] = (
    *("firstly", "secondary", "tier", "third", "", "first or second", "the former", "A", "first|second|tie", "0", "12"),
    *(True, False, None, 0, 3, 1.0, [], ["first"], {}, {"first": 1}),
)
PROSE = ("The first is longer.", "Both have merits {so to say}.", 'One says "second".', "Second to none!", "")


class Pick(NamedTuple):
    """One kind; ``expected`` is ``said`` for the choice as said, or the reason for none."""

    name: str
    expected: str
    make: Callable[[random.Random, str], str]
    cut: bool = False


def plain(dice: random.Random, choice: str) -> str:
    made: dict[str, object] = {dice.choice(KEYS): dice.choice(LABELS[choice])}
    if dice.random() < 0.5:
        made = {"explanation": dice.choice(PROSE), **made}
    return json.dumps(made, indent=dice.choice((None, 1)))


def prose(dice: random.Random) -> str:
    return dice.choice(PROSE)


def other(choice: str) -> str:
    return {"first": "second", "second": "tie", "tie": "first"}[choice]


def sure(choice: str) -> str:
    return json.dumps({"better": choice})


KINDS = (
    Pick("clean", "said", plain),
    Pick("code fence", "said", lambda d, c: f"```json\n{plain(d, c)}\n```"),
    Pick("prose around", "said", lambda d, c: f"{prose(d)}\n{plain(d, c)}\n{prose(d)}"),
    Pick("reasoning with another choice", "said", lambda d, c: f"<think>{plain(d, other(c))}</think>{plain(d, c)}"),
    Pick("draft, then final", "said", lambda d, c: f"Draft: {plain(d, other(c))}\nFinal: {plain(d, c)}"),
    Pick("another object behind", "said", lambda d, c: f'{plain(d, c)}\n{{"confidence": 0.9}}'),
    Pick("single quotes", "said", lambda d, c: f"{{'better': '{c}'}}"),
    Pick("bare words", "said", lambda d, c: f"{{better: {c}}}"),
    Pick("in a list", "said", lambda d, c: f"[{plain(d, c)}]"),
    Pick("two keys that agree", "said", lambda d, c: json.dumps({"better": c, "winner": c.upper()})),
    Pick(
        "braces in the explanation", "said", lambda d, c: json.dumps({"explanation": '{"better": "x"} }{', "better": c})
    ),
    Pick("two keys that differ", "contradictory", lambda d, c: json.dumps({"better": c, "winner": other(c)})),
    Pick("one key twice", "contradictory", lambda d, c: f'{{"better": "{c}", "better": "{other(c)}"}}'),
    Pick("a label that is none", "unparseable", lambda d, c: json.dumps({"better": d.choice(STRANGE)})),
    Pick("a label and one that is none", "unparseable", lambda d, c: json.dumps({"better": c, "verdict": "clear"})),
    Pick("no key of a choice", "unparseable", lambda d, c: json.dumps({"explanation": c, "score": 1})),
    Pick("prose only", "unparseable", lambda d, c: f"The {c} one is better. {prose(d)}"),
    Pick("word only", "unparseable", lambda d, c: c),
    Pick("broken object", "unparseable", lambda d, c: f'{{"explanation": "it "says" so", "better": "{c}"}}'),
    Pick("draft, then broken final", "unparseable", lambda d, c: f'{sure(other(c))} Final: {{"better": "{c}" x "y"}}'),
    Pick("object in a broken one", "unparseable", lambda d, c: f'{{"why": "a "b"", "draft": {sure(c)}}}'),
    Pick(
        "object that goes on",
        "unparseable",
        lambda d, c: f'{{"explanation": "so", "better": "{c}"}} ", "better": "tie"}}',
    ),
    Pick("cut", "truncated", lambda d, c: sure(c)[: d.randint(2, len(sure(c)) - 1)]),
    Pick("draft, then final cut", "truncated", lambda d, c: f'{sure(c)} Final: {{"better": "'),
    Pick("object in a cut one", "truncated", lambda d, c: f'{{"draft": {sure(c)}, "final": '),
    Pick("cut by the limit behind the object", "truncated", lambda d, c: f"{sure(c)} On reflecti", True),
    Pick("prose cut by the limit", "truncated", lambda d, c: f"The {c} one is mo", True),
    Pick("whole at the limit", "said", lambda d, c: f"{sure(c)}\n```", True),
    Pick("reasoning never closed", "truncated", lambda d, c: f"<think>{sure(c)}"),
    Pick("only reasoning", "empty_reply", lambda d, c: f"<think>{sure(c)}</think> "),
    Pick("nothing", "empty_reply", lambda d, c: d.choice(("", " \n"))),
    Pick("refusal", "refused", lambda d, c: d.choice(("I cannot judge these.", "I'm sorry, but I can't assist."))),
)
