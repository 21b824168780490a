"""What tests of many folders share: fixtures, and the order of the files."""

import pytest
from hypothesis import HealthCheck, settings
from kube_fixture import api, double, real_server

__all__ = ["api", "double", "real_server"]

# No test measures time: on a busy machine an example may take any.
settings.register_profile("gavel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gavel")

_LONG = ("pipeline", "verl", "slow", "s3")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with long tests first: where processes share the files, the last one is then a short one."""
    rank: dict[str, int] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        place = next((place for place, name in enumerate(_LONG) if name in marks), len(_LONG))
        file = item.nodeid.split("::")[0]
        rank[file] = min(place, rank.get(file, place))
    items.sort(key=lambda item: rank[item.nodeid.split("::")[0]])
