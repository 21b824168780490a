"""Malformed replies by kind of fault. What each kind must be read as stands beside it, written by hand from the rules
of FACTS A.7: what the judge said beyond doubt counts, everything else is unknown, and nothing is ever turned round."""

import json
import random
from collections.abc import Callable
from typing import NamedTuple

Truth = list[bool]
Lost = dict[int, str]
"""Criterion's place from 0 to the reason for which it must be unknown; all others must be read as they were said."""
Made = tuple[str, Lost]


class Kind(NamedTuple):
    """A kind of fault.

    Attributes:
        name: the kind.
        expected: what a reader must make of it, in words.
        make: writes one such reply for the given verdicts.
    """

    name: str
    expected: str
    make: Callable[[random.Random, Truth], Made]


KNOWN = "all verdicts as said"
MET = ("met", "MET", "Met", "present", "PRESENT", "Yes", "yes", "true", "True", "satisfied", "✓")
UNMET = ("unmet", "UNMET", "Unmet", "not present", "NOT_PRESENT", "Not-Present", "No", "no", "false", "not met", "✗")
PROSE = (
    "Here is my evaluation of the response.",
    "Let me go through the rubric, one line after the other:",
    "The response is friendly (mostly), costs {nothing} and lists [1] and [2].",
    "Criterion 1 is the hardest one. I took care!",
    "Sure 🙂 — voilà:",
    'She said "met" and left.',
)
STRANGE: tuple[object, ...] = (
    *("PRESENTED", "presently", "unmetered", "not", "met|unmet", "mostly met", "yes and no", "NOT NOT_PRESENT", ""),
    *("met, but not fully", "5", 2, 0.5, 1.0, -1, None, [], ["met"], {}, {"explanation": "met"}, "PRESENT NOT"),
)
TEXT = ("It does.", "It mentions a cat, twice.", "Nothing of the kind is there.", "Line one.\nLine two.", "")


def label(dice: random.Random, met: bool) -> str:
    return dice.choice(MET if met else UNMET)


def pairs(dice: random.Random, truth: Truth) -> dict[str, object]:
    form = dice.choice(("{}", "c{}", "C{}", "criterion {}", "criterion_{}", "#{}"))
    return {form.format(n): label(dice, met) for n, met in enumerate(truth, start=1)}


def rows(dice: random.Random, truth: Truth) -> list[dict[str, object]]:
    key = dice.choice(("id", "criterion", "index", "criterion_id"))
    verdict = dice.choice(("verdict", "label", "status", "judgement"))
    made: list[dict[str, object]] = []
    for n, met in enumerate(truth, start=1):
        row: dict[str, object] = {key: dice.choice((n, str(n), f"c{n}")), verdict: label(dice, met)}
        if dice.random() < 0.4:
            row["explanation"] = dice.choice(TEXT)
        made.append(row)
    return made


def plain(dice: random.Random, truth: Truth) -> str:
    """A good reply in any of the accepted shapes."""
    shape = dice.choice(("pairs", "rows", "wrapped", "nested"))
    indent = dice.choice((None, 1, 2))
    if shape == "pairs":
        return json.dumps(pairs(dice, truth), indent=indent)
    if shape == "rows":
        return json.dumps(rows(dice, truth), indent=indent, ensure_ascii=False)
    if shape == "wrapped":
        inner: object = dice.choice((pairs, rows))(dice, truth)
        return json.dumps({dice.choice(("verdicts", "results", "evaluation_results")): inner}, indent=indent)
    nested = {
        f"c{n}": {"explanation": dice.choice(TEXT), "verdict": label(dice, met)} for n, met in enumerate(truth, 1)
    }
    return json.dumps(nested, indent=indent)


def all_lost(truth: Truth, reason: str) -> Lost:
    return dict.fromkeys(range(len(truth)), reason)


def _kept(make: Callable[[random.Random, Truth], str]) -> Callable[[random.Random, Truth], Made]:
    return lambda dice, truth: (make(dice, truth), {})


def _none(reason: str, make: Callable[[random.Random, Truth], str]) -> Callable[[random.Random, Truth], Made]:
    return lambda dice, truth: (make(dice, truth), all_lost(truth, reason))


def _compact(dice: random.Random, truth: Truth) -> str:
    return json.dumps({f"c{n}": label(dice, met) for n, met in enumerate(truth, 1)}, ensure_ascii=False)


def _opposite(truth: Truth) -> Truth:
    return [not met for met in truth]


def _bare_words(dice: random.Random, truth: Truth) -> str:
    words = (dice.choice(("met", "present", "Yes", "True")), dice.choice(("unmet", "NOT_PRESENT", "No", "False")))
    return "{" + ", ".join(f"c{n}: {words[0] if met else words[1]}" for n, met in enumerate(truth, 1)) + "}"


def _single_quotes(dice: random.Random, truth: Truth) -> str:
    return repr({str(n): dice.choice((met, "met" if met else "unmet")) for n, met in enumerate(truth, 1)})


def _comments(dice: random.Random, truth: Truth) -> str:
    mark = dice.choice(("//", "#"))
    lines = [f'  "c{n}": "{label(dice, met)}", {mark} {dice.choice(PROSE)}' for n, met in enumerate(truth, 1)]
    return "{\n" + "\n".join(lines) + "\n}"


def _smart_quotes(dice: random.Random, truth: Truth) -> str:
    return "{" + ", ".join(f"“c{n}”: “{label(dice, met)}”" for n, met in enumerate(truth, 1)) + "}"


def _braces_in_text(dice: random.Random, truth: Truth) -> str:
    trap = dice.choice(('} {"c1": "', '"}]', "a {b} [c", '{"c1": "met"}', "\\", '```json\n{"verdict": "met"}\n```'))
    return json.dumps({f"c{n}": {"explanation": trap, "verdict": label(dice, met)} for n, met in enumerate(truth, 1)})


def _json_lines(dice: random.Random, truth: Truth) -> str:
    joint = dice.choice(("\n", ",\n", "\n\n", " "))
    return joint.join(json.dumps(row) for row in rows(dice, truth))


def _draft_then_final(dice: random.Random, truth: Truth) -> str:
    return f"Draft: {plain(dice, _opposite(truth))}\nOn reflection I was wrong.\nFinal: {plain(dice, truth)}"


def _note_behind(dice: random.Random, truth: Truth) -> str:
    return plain(dice, truth) + "\n" + json.dumps({"confidence": 0.8, "note": dice.choice(TEXT)})


def _numbers(dice: random.Random, truth: Truth) -> str:
    return json.dumps({str(n): dice.choice((int(met), str(int(met)))) for n, met in enumerate(truth, 1)})


def _shuffled(dice: random.Random, truth: Truth) -> str:
    made = rows(dice, truth)
    dice.shuffle(made)
    return json.dumps(made)


def _extra(dice: random.Random, truth: Truth) -> Made:
    reply = json.dumps({**json.loads(_compact(dice, truth)), f"c{len(truth) + 1}": "met", "overall": "met"})
    # Asked for one alone, a list with others may be steps of the judge's own.
    return reply, all_lost(truth, "unparseable") if len(truth) == 1 else {}


def _reasoned(dice: random.Random, truth: Truth) -> str:
    tag = dice.choice(("think", "thinking", "reasoning", "THINK", "thought"))
    return f"<{tag}>{dice.choice(PROSE)} {plain(dice, _opposite(truth))}</{tag}>\n{plain(dice, truth)}"


def _closed_only(dice: random.Random, truth: Truth) -> str:
    return f"{dice.choice(PROSE)} {plain(dice, _opposite(truth))} so\n</think>\n\n{plain(dice, truth)}"


def _harmony(dice: random.Random, truth: Truth) -> str:
    return (
        f"<|channel|>analysis<|message|>{plain(dice, _opposite(truth))}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{plain(dice, truth)}<|return|>"
    )


def _unclosed(dice: random.Random, truth: Truth) -> str:
    return f"<think>{dice.choice(PROSE)}\n{plain(dice, truth)}"


def _missing(dice: random.Random, truth: Truth) -> Made:
    gone = set(dice.sample(range(len(truth)), dice.randint(1, max(1, len(truth) - 1))))
    if len(gone) == len(truth):
        return "{}", all_lost(truth, "unparseable")
    made = {f"c{n + 1}": label(dice, met) for n, met in enumerate(truth) if n not in gone}
    return json.dumps(made), dict.fromkeys(gone, "missing")


def _strange_label(dice: random.Random, truth: Truth) -> Made:
    place = dice.randrange(len(truth))
    made: dict[str, object] = {f"c{n}": label(dice, met) for n, met in enumerate(truth, 1)}
    made[f"c{place + 1}"] = dice.choice(STRANGE)
    return json.dumps(made), {place: "unparseable"}


def _undecided(dice: random.Random, truth: Truth) -> Made:
    place = dice.randrange(len(truth))
    made = {f"c{n}": label(dice, met) for n, met in enumerate(truth, 1)}
    made[f"c{place + 1}"] = dice.choice(("unknown", "Unclear", "cannot determine", "N/A", "unsure"))
    return json.dumps(made), {place: "undecided"}


def _twice(dice: random.Random, truth: Truth) -> Made:
    place = dice.randrange(len(truth))
    lines = [f'"c{n}": "{label(dice, met)}"' for n, met in enumerate(truth, 1)]
    key = dice.choice((f"c{place + 1}", f"{place + 1}", f"Criterion {place + 1}"))
    lines.append(f'"{key}": "{label(dice, not truth[place])}"')
    return "{" + ", ".join(lines) + "}", {place: "contradictory"}


def _twice_in_list(dice: random.Random, truth: Truth) -> Made:
    place = dice.randrange(len(truth))
    made = [{"id": n, "verdict": label(dice, met)} for n, met in enumerate(truth, 1)]
    made.insert(dice.randint(0, len(made)), {"id": place + 1, "verdict": label(dice, not truth[place])})
    return json.dumps(made), {place: "contradictory"}


def _two_fields(dice: random.Random, truth: Truth) -> Made:
    place = dice.randrange(len(truth))
    made = [{"id": n, "verdict": label(dice, met), "met": met} for n, met in enumerate(truth, 1)]
    made[place]["met"] = not truth[place]
    return json.dumps(made), {place: "contradictory"}


def _cut_map(dice: random.Random, truth: Truth) -> str:
    text = _compact(dice, truth)
    return dice.choice(("", "```json\n", "Sure.\n")) + text[: dice.randint(2, len(text) - 1)]


def _cut_list(dice: random.Random, truth: Truth) -> Made:
    made = [json.dumps({"id": n, "verdict": label(dice, met)}) for n, met in enumerate(truth, 1)]
    whole = dice.randrange(len(made))
    head = dice.choice(("[", '{"verdicts": ['))
    text = head + ", ".join([*made[:whole], made[whole][: dice.randint(1, len(made[whole]) - 1)]])
    return text, dict.fromkeys(range(whole, len(truth)), "truncated")


def _cut_final(dice: random.Random, truth: Truth) -> str:
    text = _compact(dice, truth)
    return f"First thought: {_compact(dice, _opposite(truth))}\nFinal: {text[: dice.randint(6, len(text) - 1)]}"


def _zero_based(dice: random.Random, truth: Truth) -> str:
    return json.dumps({dice.choice(("{}", "c{}")).format(n): label(dice, met) for n, met in enumerate(truth)})


def _shifted(dice: random.Random, truth: Truth) -> str:
    by = dice.randint(1, 3)
    return json.dumps({f"c{n + by}": label(dice, met) for n, met in enumerate(truth, 1)})


def _open_quote(dice: random.Random, truth: Truth) -> str:
    made = [
        f'"c{n}": {{"explanation": "It says "{n} cats" here", "verdict": "{label(dice, met)}"}}'
        for n, met in enumerate(truth, 1)
    ]
    return "{" + ", ".join(made) + "}"


def _prose(dice: random.Random, truth: Truth) -> str:
    said = [f"Criterion {n} is {'met' if met else 'not met'}." for n, met in enumerate(truth, 1)]
    return " ".join([dice.choice(PROSE), *said])


def _lines(dice: random.Random, truth: Truth) -> str:
    return "\n".join(f"{n}. {label(dice, met)}" for n, met in enumerate(truth, 1))


def _labels_alone(dice: random.Random, truth: Truth) -> str:
    return json.dumps([label(dice, met) for met in truth])


def _template(dice: random.Random, truth: Truth) -> str:
    return json.dumps(
        {f"c{n}": dice.choice(("met|unmet", "met or unmet", "<verdict>")) for n in range(1, 1 + len(truth))}
    )


def _refusal(dice: random.Random, truth: Truth) -> str:
    return dice.choice(
        (
            "I'm sorry, but I can't assist with that request.",
            "I cannot evaluate this content.",
            "Sorry, I am unable to help with this.",
            "As an AI language model, I cannot judge this response.",
            "I’m sorry, I can’t comply with that.",
            "Unfortunately, I cannot provide a verdict here.",
            "抱歉，我无法回答这个问题。",
        )
    )


def _dressed(dice: random.Random, truth: Truth) -> str:
    dress = dice.choice(("**{}**", " {} ", "`{}`", "{}.", "'{}'", "({})", "{}\n"))
    return json.dumps({f"c{n}": dress.format(label(dice, met)) for n, met in enumerate(truth, 1)})


def _joints(dice: random.Random, truth: Truth) -> str:
    absent = (
        "not present",
        "Not Present",
        "NOT-PRESENT",
        "not_present",
        "NOT\u00a0PRESENT",
        "NOT–PRESENT",
        "notPresent",
    )
    return json.dumps({str(n): "Present" if met else dice.choice(absent) for n, met in enumerate(truth, 1)})


KINDS = (
    Kind("clean", KNOWN, _kept(plain)),
    Kind("code fence", KNOWN, _kept(lambda d, t: f"```json\n{plain(d, t)}\n```")),
    Kind("fence of no language, unclosed", KNOWN, _kept(lambda d, t: f"```\n{plain(d, t)}")),
    Kind("prose before", KNOWN, _kept(lambda d, t: f"{d.choice(PROSE)}\n{plain(d, t)}")),
    Kind("prose behind", KNOWN, _kept(lambda d, t: f"{plain(d, t)}\n\n{d.choice(PROSE)}")),
    Kind("prose around a fence", KNOWN, _kept(lambda d, t: f"{d.choice(PROSE)}\n```json\n{plain(d, t)}\n```\nDone.")),
    Kind("reasoning span with the opposite verdicts", KNOWN, _kept(_reasoned)),
    Kind("reasoning closed and never opened", KNOWN, _kept(_closed_only)),
    Kind("Harmony channels", KNOWN, _kept(_harmony)),
    Kind("draft, then final", "the final verdicts", _kept(_draft_then_final)),
    Kind("another object behind", KNOWN, _kept(_note_behind)),
    Kind("list in another order", "by number, not by place", _kept(_shuffled)),
    Kind("one object a line", KNOWN, _kept(_json_lines)),
    Kind("single quotes and Python constants", KNOWN, _kept(_single_quotes)),
    Kind("bare words", KNOWN, _kept(_bare_words)),
    Kind("typographic quotes", KNOWN, _kept(_smart_quotes)),
    Kind("trailing comma", KNOWN, _kept(lambda d, t: _compact(d, t)[:-1] + ",}")),
    Kind("comments", KNOWN, _kept(_comments)),
    Kind("braces and quotes inside strings", KNOWN, _kept(_braces_in_text)),
    Kind("booleans", KNOWN, _kept(lambda d, t: json.dumps({f"c{n}": met for n, met in enumerate(t, 1)}))),
    Kind("1 and 0", KNOWN, _kept(_numbers)),
    Kind("dressed labels", KNOWN, _kept(_dressed)),
    Kind("joints of NOT PRESENT", KNOWN, _kept(_joints)),
    Kind("escaped underscore", KNOWN, _kept(lambda d, t: _joints_escaped(t))),
    Kind("byte-order mark and zero-width spaces", KNOWN, _kept(lambda d, t: "\ufeff" + plain(d, t) + "\u200b")),
    Kind("closing bracket of the wrapper missing", KNOWN, _kept(lambda d, t: f'{{"verdicts": {_compact(d, t)}')),
    Kind("more criteria than asked", "those asked, as said; all unparseable if one alone was asked", _extra),
    Kind("criteria left out", "the rest as said, those left out unknown", _missing),
    Kind("a label that is none", "the rest as said, that one unknown", _strange_label),
    Kind("the judge cannot tell", "the rest as said, that one undecided", _undecided),
    Kind("one criterion twice, differing", "the rest as said, that one contradictory", _twice),
    Kind("one criterion twice in a list", "the rest as said, that one contradictory", _twice_in_list),
    Kind("two fields that differ", "the rest as said, that one contradictory", _two_fields),
    Kind("object cut", "all truncated", _none("truncated", _cut_map)),
    Kind("list cut", "whole elements as said, the rest truncated", _cut_list),
    Kind("draft, then final cut", "all truncated, the draft does not count", _none("truncated", _cut_final)),
    Kind("reasoning never closed", "all truncated", _none("truncated", _unclosed)),
    Kind("numbered from 0", "all unparseable", _none("unparseable", _zero_based)),
    Kind("numbers shifted", "all unparseable", _none("unparseable", _shifted)),
    Kind("quotation mark not escaped", "all unparseable", _none("unparseable", _open_quote)),
    Kind("prose only", "all unparseable", _none("unparseable", _prose)),
    Kind("numbered lines without JSON", "all unparseable", _none("unparseable", _lines)),
    Kind("labels without numbers", "all unparseable", _none("unparseable", _labels_alone)),
    Kind("the format repeated instead of filled in", "all unparseable", _none("unparseable", _template)),
    Kind("refusal", "all refused", _none("refused", _refusal)),
    Kind("nothing", "all empty", _none("empty_reply", lambda d, t: d.choice(("", " ", "\n\n", "\t")))),
    Kind(
        "reasoning and nothing else",
        "all empty",
        _none("empty_reply", lambda d, t: f"<think>{d.choice(PROSE)}</think>\n"),
    ),
)


def _joints_escaped(truth: Truth) -> str:
    return (
        "{"
        + ", ".join(f'"{n}": "{"PRESENT" if met else "NOT" + chr(92) + "_PRESENT"}"' for n, met in enumerate(truth, 1))
        + "}"
    )
