"""Judges that the tests of whole pipelines share."""

import socket
from collections.abc import Iterator

import pytest
from rule_judge import RuleJudge


def _serve(*, faults: bool) -> Iterator[RuleJudge]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = RuleJudge(port, faults=faults)
    found.start()
    yield found
    found.close()


@pytest.fixture(scope="module")
def stumbling_judge() -> Iterator[RuleJudge]:
    yield from _serve(faults=True)


@pytest.fixture(scope="module")
def sound_judge() -> Iterator[RuleJudge]:
    yield from _serve(faults=False)
