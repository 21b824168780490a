"""Sentences by NLTK's Punkt tokenizer with the English model ``punkt_tab``, without a download.

The model's four files come with the package llama-index-core, of which nothing else is used: it is installed without
what it depends on, and never imported.
"""

import functools
import hashlib
import importlib.metadata
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError

PACKAGE = "llama-index-core"
FOLDER = "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english"
DIGESTS = {
    "abbrev_types.txt": "92a3e070f43d9b4c5534758ca40ad7343b04e7e29bfe0c2eb658a39445a4f779",
    "collocations.tab": "8e2da1225e4dd2cc9dba261ee231ccb134859e21b46006e7f472c5ee269af0cf",
    "ortho_context.tab": "4bbcca25ed3d3f06c02402abf8419b9f033b8adc06e7b482eca4e45f81a5dc4c",
    "sent_starters.txt": "f3f8535483e1dba487241b764945168123bca3209a9645e59acd1225dc76edac",
}
"""SHA-256 of the files of NLTK's punkt_tab, English. Others would count other sentences."""

REMEDY = "install the locked packages: make setup (pip install --no-deps llama-index-core==0.14.25 by hand)"


def split(text: str) -> list[str]:
    """The sentences of a text.

    Raises:
        ConfigError: NLTK or the model's files are not installed.
    """
    found: list[str] = _tokenizer().tokenize(text)
    return found


def model_folder() -> Path:
    """Where the package that brings the model has put it.

    Raises:
        ConfigError: the package is not installed, or has no such folder any more.
    """
    try:
        folder = Path(str(importlib.metadata.distribution(PACKAGE).locate_file(FOLDER)))
    except importlib.metadata.PackageNotFoundError as error:
        raise ConfigError(
            f"the English sentence model punkt_tab is missing: {PACKAGE}, which brings it, is not installed",
            where="number_sentences, capital_word_frequency",
            remedy=REMEDY,
        ) from error
    if not folder.is_dir():
        raise ConfigError(
            "the English sentence model punkt_tab is missing", where=str(folder), remedy=f"another version? {REMEDY}"
        )
    return folder


def read_model(folder: Path) -> dict[str, str]:
    """The text of the model's four files by name.

    Raises:
        ConfigError: a file is missing, or is not the one that published scores were made with.
    """
    texts = {}
    for name, digest in DIGESTS.items():
        path = folder / name
        if not path.is_file():
            raise ConfigError("a file of the sentence model is missing", where=str(path), remedy=REMEDY)
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise ConfigError(
                "a file of the sentence model is not that of NLTK's punkt_tab; sentences would be counted otherwise",
                where=str(path),
                remedy=REMEDY,
            )
        texts[name] = content.decode("utf-8")
    return texts


@functools.cache
def _tokenizer() -> Any:
    try:
        from nltk.tokenize import punkt
    except ImportError as error:
        raise ConfigError("NLTK is not installed", where="number_sentences", remedy=REMEDY) from error

    texts = {name: text.splitlines() for name, text in read_model(model_folder()).items()}
    model = punkt.PunktParameters()
    model.abbrev_types = set(texts["abbrev_types.txt"])
    model.sent_starters = set(texts["sent_starters.txt"])
    model.collocations = {tuple(line.split("\t")) for line in texts["collocations.tab"]}
    for line in texts["ortho_context.tab"]:
        word, flags = line.split("\t")
        model.ortho_context[word] = int(flags)
    tokenizer = punkt.PunktSentenceTokenizer(model)
    # Whether a stop ends a sentence depends on the words at its two sides alone, and a response's variants share those.
    tokenizer.text_contains_sentbreak = functools.lru_cache(1 << 16)(tokenizer.text_contains_sentbreak)
    return tokenizer
