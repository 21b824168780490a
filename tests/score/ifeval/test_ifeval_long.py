"""Responses made to be slow: what is read in linear time agrees with the published patterns, and long texts end."""

import re
import signal
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.score.ifeval.evaluate import evaluate
from components.score.ifeval.registry import build_check

LONG = 1_000_000
"""Characters; with work that grows by their square a check would take hours."""


@pytest.fixture
def ends() -> Iterator[None]:
    """An error after minutes where seconds do, so that a check that hangs does not hang the tests."""

    def late(*_: object) -> None:
        raise AssertionError("still at it after two minutes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


TITLE, PLACES = "detectable_format:title", "detectable_content:number_placeholders"
BULLETS = "detectable_format:number_bullet_lists"


@pytest.mark.usefixtures("ends")
@pytest.mark.parametrize(
    ("kind", "kwargs", "text", "followed"),
    [
        (TITLE, {}, "<" * LONG, False),
        (TITLE, {}, "<<" * LONG + "\n>>", False),
        (TITLE, {}, "<<a>>" * LONG, True),
        (PLACES, {"num_placeholders": 2}, "[" * LONG + "\n]]]", False),
        (PLACES, {"num_placeholders": LONG}, "[]" * LONG, True),
        (BULLETS, {"num_bullets": 1}, "x" + "\n" * LONG + "x*-", False),
        (BULLETS, {"num_bullets": 1}, "x" + "\n " * LONG + "* a", True),
        (BULLETS, {"num_bullets": 1}, "x" + "\n " * LONG + "- a", True),
    ],
)
def test_long_texts_end(kind: str, kwargs: dict[str, int], text: str, followed: bool) -> None:
    assert evaluate([build_check(kind, kwargs)], text).strict == (followed,)


MARKS = st.text(st.sampled_from("<<>>[]*- \n\t\x0b\u2028\xa0a"), min_size=1, max_size=40)


def titled(text: str) -> bool:
    return any(title.lstrip("<").rstrip(">").strip() for title in re.findall(r"<<[^\n]+>>", text))


def bullets(text: str) -> int:
    star, dash = r"^\s*\*[^*].*$", r"^\s*-.*$"
    return len(re.findall(star, text, re.MULTILINE)) + len(re.findall(dash, text, re.MULTILINE))


@given(MARKS)
def test_they_find_what_the_published_patterns_find(text: str) -> None:
    if not text.strip():
        return

    def follows(kind: str, **kwargs: int) -> bool:
        return evaluate([build_check(kind, kwargs)], text).strict == (True,)

    assert follows(TITLE) == titled(text)
    assert follows(BULLETS, num_bullets=bullets(text))
    placeholders = len(re.findall(r"\[.*?\]", text))
    assert follows(PLACES, num_placeholders=placeholders)
    assert not follows(PLACES, num_placeholders=placeholders + 1)
