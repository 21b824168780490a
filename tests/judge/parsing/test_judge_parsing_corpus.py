"""More than ten thousand malformed replies, each read as its kind demands."""

import random
from collections.abc import Iterator

import pytest
from reply_faults import KINDS, Kind

from components.judge.parsing.reply import read_reply

_EACH = 300


def _replies(kind: Kind) -> Iterator[tuple[list[bool], str, dict[int, str]]]:
    dice = random.Random(kind.name)
    for _ in range(_EACH):
        truth = [dice.random() < 0.5 for _ in range(dice.randint(1, 12))]
        yield truth, *kind.make(dice, truth)


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 30
    assert len({reply for kind in KINDS for _, reply, _ in _replies(kind)}) >= 10_000


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.replace(" ", "-"))
def test_every_reply_is_read_as_its_kind_demands(kind: Kind) -> None:
    for truth, reply, lost in _replies(kind):
        expected = [("met" if met else "unmet", None) for met in truth]
        for place, reason in lost.items():
            expected[place] = ("unknown", reason)
        readings = read_reply(reply, range(1, len(truth) + 1))
        found = [(reading.status.value, reading.reason and reading.reason.value) for reading in readings.values()]
        assert found == expected, f"{kind.name}: {kind.expected}\n{reply}"
