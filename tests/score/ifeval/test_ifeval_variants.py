"""The short cuts of the loose criterion give what looking at all eight variants gives."""

import json
import random
from pathlib import Path

import made_responses
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.score.ifeval.evaluate import evaluate
from components.score.ifeval.registry import CHECKS, build_check
from components.score.ifeval.text import Text

ROWS = [json.loads(line) for line in Path(__file__).with_name("prompts.jsonl").read_text(encoding="utf-8").splitlines()]
PAIRS = [pair for row in ROWS for pair in zip(row["instruction_id_list"], row["kwargs"], strict=True)]
PIECES = [
    "*",
    "**",
    "***",
    "******",
    "\n",
    "\n\n",
    " ",
    "- ",
    "a",
    "cat",
    "ca*t",
    "war ",
    "o'clock",
    ",",
    '"',
    "[x]",
    "#",
]
PIECES += [
    "SECTION 1",
    "Day 2",
    "<<",
    ">>",
    "P.S.",
    "P.",
    "p",
    "s",
    "Note",
    "river",
    "forest",
    "not apple",
    "!",
    ".",
    "I",
]
PIECES += [
    "weekend",
    "Summary,",
    "Peace!",
    "QQ",
    "é",
    "ſ",
    "\u2028",
    "\t",
    "One. Two.",
    "My answer is ",
    "yes.",
    "{}",
    "1",
]


def all_eight(text: str) -> list[str]:
    """Written out after the paper's description: first line, last line, both; each also without stars."""
    lines = text.split("\n")
    cut = [text, "\n".join(lines[1:]).strip(), "\n".join(lines[:-1]).strip(), "\n".join(lines[1:-1]).strip()]
    return cut + [one.replace("*", "") for one in cut]


def agrees(response: str) -> None:
    for kind, kwargs in PAIRS:
        check = build_check(kind, kwargs)
        expected = any(one.strip() != "" and check.follows(Text(one)) for one in all_eight(response))
        assert evaluate([check], response).loose == (expected,), (kind, kwargs)


def test_own_prompts_have_every_type() -> None:
    assert {kind for kind, _ in PAIRS} == set(CHECKS)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_short_cuts_on_pieces(response: str) -> None:
    agrees(response)


@pytest.mark.parametrize("response", made_responses.EDGES)
def test_short_cuts_on_edges(response: str) -> None:
    agrees(response)


def test_short_cuts_on_made_responses() -> None:
    draw = random.Random(3)
    for row in ROWS:
        for response in made_responses.responses(row["instruction_id_list"], row["kwargs"], 2, draw):
            agrees(response)
