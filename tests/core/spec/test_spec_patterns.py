"""Patterns of text are told in words."""

import re
from collections.abc import Iterator

from components.core.spec.experiment import Experiment
from components.core.spec.patterns import WORDS


def patterns(part: object) -> Iterator[str]:
    """Every pattern of a JSON schema."""
    if isinstance(part, dict):
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]
        for value in part.values():
            yield from patterns(value)
    elif isinstance(part, list):
        for value in part:
            yield from patterns(value)


def test_each_pattern_of_the_specification_has_words_and_no_other_is_there() -> None:
    assert set(patterns(Experiment.model_json_schema())) == set(WORDS)


def test_each_example_is_one() -> None:
    for pattern, words in WORDS.items():
        for example in re.findall(r"such as (\S+?)(?:,|$)", words):
            assert re.search(pattern, example.strip('"')), (pattern, example)
