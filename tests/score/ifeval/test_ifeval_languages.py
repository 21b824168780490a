"""The same language as langdetect's own code finds, at every call."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import langdetect
import made_responses
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langdetect.detector_factory import init_factory

from components.score.ifeval import languages
from components.score.ifeval.languages import detect

ROOT = Path(__file__).parents[3]
TEXTS = [*made_responses.EDGES, *made_responses.LANGUAGES.values(), *made_responses.SENTENCES]
MIXED = "see https://example.org/a?b=c and me@example.org for " + made_responses.LANGUAGES["ru"]
CHARACTERS = "abcdeAZ zéßñ łőгдäअ文한 ุ،१2.!*x@\n\u1ea1\u0323\u3042\u30a2"


@pytest.fixture(scope="module")
def factory() -> Any:
    """langdetect's factory with the same seed."""
    init_factory()
    from langdetect import detector_factory

    seed, langdetect.DetectorFactory.seed = langdetect.DetectorFactory.seed, 0
    yield detector_factory._factory
    langdetect.DetectorFactory.seed = seed


def theirs(factory: Any, text: str) -> tuple[str | None, list[str]]:
    detector = factory.create()
    detector.append(text)
    try:
        found = detector.detect()
    except langdetect.LangDetectException:
        return None, []
    return found, detector._extract_ngrams()


def agrees(factory: Any, text: str) -> None:
    found, ngrams = theirs(factory, text)
    assert languages._profiles().alphabet.ngrams(languages._prepared(text)) == ngrams
    assert detect(text) == found


@pytest.mark.parametrize("text", [*TEXTS, MIXED, MIXED * 400, "ab  cd " * 3000])
def test_same_as_langdetect(text: str, factory: Any) -> None:
    agrees(factory, text)
    agrees(factory, text.upper())


def test_same_as_langdetect_on_mixtures(factory: Any) -> None:
    draw = random.Random(0)
    for _ in range(150):
        text = draw.choice([" ", "\n", ""]).join(draw.choices(TEXTS, k=draw.randint(2, 5)))
        agrees(factory, draw.choice([str, str.upper, str.title])(text))


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.sampled_from(CHARACTERS), max_size=60))
def test_same_as_langdetect_on_any_characters(text: str, factory: Any) -> None:
    agrees(factory, text)


def test_short_ambiguous_text_is_the_same_in_every_process() -> None:
    code = (
        "from components.score.ifeval.languages import detect; print(detect('no one sees a man'), detect('a la carte'))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
    assert runs.pop() == f"{detect('no one sees a man')} {detect('a la carte')}\n"
