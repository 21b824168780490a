"""How often a trainer that hangs is started again, and one for which Ray had no time."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.core.errors import StepError
from components.core.progress import Progress
from components.engine.process import HungError, SlowStartError, StalledError
from components.train import step as train

SLOW, HANGS = SlowStartError("Ray did not start within its 30 s"), StalledError("no sign of life for 1200 s")


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Trains with a trainer that fails in these ways, one a start, and then reaches its end; returns its starts."""

    def run(*failures: Exception, placement: str = "local") -> int:
        left, starts = list(failures), 0

        def start(*_: Any) -> None:
            nonlocal starts
            starts += 1
            if left:
                raise left.pop(0)

        monkeypatch.setattr(train, "_train", start)
        experiment = SimpleNamespace(
            training=SimpleNamespace(deadline_minutes=1), cluster=SimpleNamespace(placement=placement)
        )
        context: Any = SimpleNamespace(experiment=experiment, work=tmp_path, progress=Progress("train-grpo"))
        paths: Any = None
        train._train_to_the_end(context, paths)
        return starts

    return run


def test_a_busy_machine_gets_more_starts_than_a_trainer_that_hangs(trained: Callable[..., int]) -> None:
    # As was seen with twenty processes on two cores, where Ray, whose 30 s no setting changes, gave up three times.
    assert trained(SLOW, SLOW, SLOW, SLOW) == 5
    assert trained(HANGS, SLOW, HANGS, SLOW, SLOW) == 6


@pytest.mark.parametrize(
    ("failures", "placement", "words"),
    [
        ([HANGS] * 3, "local", "the trainer hung 3 times: no sign of life"),
        ([SLOW] * 10, "local", "the trainer did not start 10 times: Ray"),
        ([SLOW], "kubernetes", r"the trainer did not start \(Ray"),
        ([HANGS], "kubernetes", r"the trainer hung \(no sign"),
    ],
)
def test_it_is_not_started_for_ever(
    trained: Callable[..., int], failures: list[Exception], placement: str, words: str
) -> None:
    with pytest.raises(HungError, match=words) as caught:
        trained(*failures, placement=placement)
    assert "trainer.log" in caught.value.where


def test_a_trainer_that_fails_is_not_started_again(trained: Callable[..., int]) -> None:
    with pytest.raises(StepError, match="does not fit"):
        trained(StepError("batch 7 does not fit", where="trainer.log"))
