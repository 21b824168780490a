"""A judge's placement in a pretended cluster whose operator does as a test says."""

import contextlib
import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kserve_specs import cluster, judge
from kube_fixture import Api
from operators import Serving, ServingOperator

from components.core.progress import Progress
from components.core.spec.judge import JudgeSpec
from components.judge.kserve.lookup import services_of
from components.judge.kserve.patience import Patience
from components.judge.placement.kserve import KservePlacement

Object = dict[str, Any]

QUICK = Patience(start=5.0, queue=None, image=0.3, config=0.3, verdict=0.5, poll=0.2, again=60.0)


def agrees(_: str) -> None:
    """A judge that answers."""


class World:
    """One run's view of the cluster; ``said`` is what people see."""

    def __init__(self, api: Api, run: str = "run-1", patch: pytest.MonkeyPatch | None = None) -> None:
        self.api = api
        self.said = io.StringIO()
        self.progress = Progress("deploy-judge", stream=self.said)
        self.cluster = cluster(namespace=api.namespace)
        if patch is not None:
            patch.setenv("GAVEL_KFP_RUN", run)

    def placement(
        self,
        spec: JudgeSpec | None = None,
        *,
        ask: Callable[[str], None] | None = agrees,
        patience: Patience = QUICK,
        **kubernetes: Any,
    ) -> KservePlacement:
        there = cluster(namespace=self.api.namespace, **kubernetes)
        return KservePlacement(spec or judge(), there, "arm-a", ask=ask, patience=patience)

    def services(self, name: str = "qwen3-32b") -> list[Object]:
        return services_of(self.api.cluster(), name)

    @property
    def lines(self) -> list[str]:
        return self.said.getvalue().splitlines()


@contextlib.contextmanager
def operator(api: Api, default: Serving | None = None, **settings: Any) -> Iterator[ServingOperator]:
    """The operator at work; it must not have met refusals."""
    with ServingOperator(api, default, **settings) as found:
        yield found
    assert found.failures == []


@contextlib.contextmanager
def meanwhile(action: Callable[[], None]) -> Iterator[None]:
    """Another thread's doing, whose failure fails the test."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            action()
        except BaseException as error:
            failed.append(error)
            raise

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join(30)
    assert failed == []
