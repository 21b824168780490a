"""What tests of many folders share: fixtures, and how processes share the files."""

import pytest
from hypothesis import HealthCheck, settings
from kube_fixture import api, double, real_server

__all__ = ["api", "double", "real_server"]

# No test measures time: on a busy machine an example may take any.
settings.register_profile("gavel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gavel")

_LONG = ("pipeline", "verl", "slow", "s3")
_RAY = frozenset({"pipeline", "verl"})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with long tests come first, and processes share files, not tests; those with Ray, which starts in half a
    minute or not at all, run one after another in one process."""
    marks: dict[str, set[str]] = {}
    for item in items:
        marks.setdefault(_file(item), set()).update(mark.name for mark in item.iter_markers())
    for item in items:
        file = _file(item)
        item.add_marker(pytest.mark.xdist_group("ray" if marks[file] & _RAY else file))
    items.sort(key=lambda item: next((i for i, name in enumerate(_LONG) if name in marks[_file(item)]), len(_LONG)))


def _file(item: pytest.Item) -> str:
    return item.nodeid.split("::")[0]
