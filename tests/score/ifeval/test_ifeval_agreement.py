"""Agreement with the published checkers, as the package if-verifiable has them, on responses made by rules."""

import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import made_responses
import pytest

from components.score.ifeval.evaluate import evaluate
from components.score.ifeval.registry import CHECKS, build_check
from components.score.ifeval.sentences import model_folder

OWN = Path(__file__).with_name("prompts.jsonl")
OFFICIAL = Path(__file__).parents[4] / "shared" / "data" / "ifeval_input_data.jsonl"

Explains = Callable[[dict[str, Any], str], bool]
EXPLAINED: tuple[tuple[str, str, Explains], ...] = (
    (
        "keywords:letter_frequency",
        "the package has the older code, which puts a random letter in place of a character that is no letter",
        lambda kwargs, response: not ("a" <= kwargs["letter"].lower() <= "z"),
    ),
)
"""Type, cause, and when it applies. Whatever is not here is a mistake."""


@pytest.fixture(scope="module")
def published() -> Iterator[Callable[[dict[str, Any], str], list[tuple[bool, bool]]]]:
    """Strict and loose outcome of each instruction by the package."""
    langdetect = pytest.importorskip("langdetect")
    nltk = pytest.importorskip("nltk")
    common = pytest.importorskip("if_verifiable.common")
    from if_verifiable.ifeval import INSTRUCTION_DICT

    nltk.data.path.insert(0, str(model_folder().parents[2]))
    seed, langdetect.DetectorFactory.seed = langdetect.DetectorFactory.seed, 0
    logging.disable(logging.ERROR)
    random.seed(0)

    def outcomes(row: dict[str, Any], response: str) -> list[tuple[bool, bool]]:
        kinds = row["instruction_id_list"]
        found, _ = common.evaluate_instructions(response, kinds, row["kwargs"], row["prompt"], INSTRUCTION_DICT)
        # Nothing at all for a blank response, which follows nothing.
        return [(one.strict_pass, one.loose_pass) for one in found] or [(False, False)] * len(kinds)

    yield outcomes
    logging.disable(logging.NOTSET)
    langdetect.DetectorFactory.seed = seed
    nltk.data.path.pop(0)


@pytest.mark.slow
@pytest.mark.suites
@pytest.mark.parametrize(("path", "samples"), [(OWN, 130), (OFFICIAL, 6)], ids=["own", "official"])
def test_agrees_on_every_instruction(path: Path, samples: int, published: Any) -> None:
    if not path.is_file():
        pytest.skip(f"the official file is not in the tree, and is not at {path.parent.name}/{path.name} beside it")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    draw = random.Random(7)
    seen: Counter[tuple[str, bool]] = Counter()
    unexplained = []
    for row in rows:
        kinds, kwargs = row["instruction_id_list"], row["kwargs"]
        checks = [build_check(kind, given) for kind, given in zip(kinds, kwargs, strict=True)]
        for response in made_responses.responses(kinds, kwargs, samples, draw):
            ours = evaluate(checks, response)
            theirs = published(row, response)
            for kind, given, own, other in zip(
                kinds, kwargs, zip(ours.strict, ours.loose, strict=True), theirs, strict=True
            ):
                seen[kind, own[0]] += 1
                if own != other and not any(name == kind and when(given, response) for name, _, when in EXPLAINED):
                    unexplained.append((row["key"], kind, given, response, own, other))
    assert not unexplained, f"{len(unexplained)}, the first: {unexplained[0]}"
    # The responses tell the types apart: each is followed at times, and at times not.
    assert {(kind, outcome) for kind in CHECKS for outcome in (True, False)} == set(seen)
