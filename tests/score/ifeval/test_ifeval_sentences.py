"""Sentences and words in capitals as NLTK has them; the sentence model without a download."""

import shutil
from pathlib import Path
from typing import Any

import made_responses
import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import ConfigError
from components.score.ifeval import capitals, sentences
from components.score.ifeval.text import Text

PIECES = [
    "'Tis",
    "'twas",
    "D'ye",
    "CANNOT",
    "Cannot",
    "caNNOT",
    "wanNA",
    "I'M",
    "I'm",
    "N'T",
    "isN'T",
    "U.S.",
    "A",
    "É",
    "x",
]
PIECES += [
    " ",
    " ",
    "\n",
    ".",
    "...",
    "!",
    "?",
    "'",
    '"',
    "(",
    ")",
    "-",
    "--",
    ",",
    "*",
    "GIMME",
    "moRE'N",
    "more'N",
    "Lemme",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)


@pytest.fixture(scope="module")
def data() -> Any:
    """NLTK's own loader finds the same model."""
    nltk.data.path.insert(0, str(sentences.model_folder().parents[2]))
    yield
    nltk.data.path.pop(0)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_same_as_nltk(text: str, data: Any) -> None:
    one = Text(text)
    assert one.sentences == nltk.sent_tokenize(text)
    assert len(one.sentences) <= one.most_sentences
    assert one.capital_words == sum(word.isupper() for word in nltk.word_tokenize(text))


@pytest.mark.parametrize("text", [*made_responses.EDGES, " ".join(made_responses.SENTENCES)])
def test_same_as_nltk_on_edges(text: str, data: Any) -> None:
    test_same_as_nltk.hypothesis.inner_test(text, data)  # type: ignore[attr-defined]


def test_abbreviations_end_no_sentence() -> None:
    assert sentences.split("Dr. Hale met Mrs. Moreno at 5 p.m. today. She left.") == [
        "Dr. Hale met Mrs. Moreno at 5 p.m. today.",
        "She left.",
    ]


def test_words_in_capitals_by_hand() -> None:
    assert capitals.count("NASA and the EU met I. Newton") == 3
    assert capitals.count("Nothing here at all") == 0


def test_a_missing_or_changed_model_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "english"
    shutil.copytree(sentences.model_folder(), folder)
    assert set(sentences.read_model(folder)) == set(sentences.DIGESTS)
    (folder / "abbrev_types.txt").write_text("dr\n")
    with pytest.raises(ConfigError, match="is not that of NLTK's punkt_tab") as caught:
        sentences.read_model(folder)
    assert "make setup" in caught.value.remedy
    (folder / "abbrev_types.txt").unlink()
    with pytest.raises(ConfigError, match="is missing") as caught:
        sentences.read_model(folder)
    assert "abbrev_types.txt" in str(caught.value)


def test_a_missing_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "PACKAGE", "no-such-package-at-all")
    with pytest.raises(ConfigError, match="punkt_tab is missing") as caught:
        sentences.model_folder()
    assert "make setup" in caught.value.remedy
