"""What tests of many folders share: fixtures, and how processes share the files."""

import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from kube_fixture import api, double, real_server

__all__ = ["api", "double", "real_server"]

# No test measures time: on a busy machine an example may take any.
settings.register_profile("gavel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gavel")

_LONG = ("pipeline", "verl", "slow", "s3")
_RAY = re.compile(r"\bmark\.(pipeline|verl)\b")


@pytest.fixture(scope="session", autouse=True)
def stacks_without_sources() -> Iterator[None]:
    """kfp asks ``inspect.stack`` for a function's name, which looks for each frame's source among all loaded modules.

    In a process that has torch and transformers, a pipeline then compiles in half a minute instead of one second.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect, "stack", functools.partial(inspect.stack, 0))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with long tests first: where processes share the files, the last one is then a short one."""
    rank: dict[str, int] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        place = next((place for place, name in enumerate(_LONG) if name in marks), len(_LONG))
        file = item.nodeid.split("::")[0]
        rank[file] = min(place, rank.get(file, place))
    items.sort(key=lambda item: rank[item.nodeid.split("::")[0]])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Processes share files, not tests; the files with Ray, which starts in half a minute or not at all, run one after
    another in one process."""
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-not-found, import-untyped, unused-ignore]

    @functools.cache
    def starts_ray(file: str) -> bool:
        return _RAY.search((Path(config.rootpath) / file).read_text(encoding="utf-8")) is not None

    class ByFile(LoadFileScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            return "ray" if starts_ray(file) else file

    return ByFile(config, log)
