"""Leases as an annotation."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import JudgeError
from components.core.holder import holder
from components.judge.leases.record import SKEW, Lease, Leases, leases_of, written

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOLDERS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
MINUTES = st.integers(-1000, 1000)
Object = dict[str, Any]


def lease(name: str = "run-1", minutes: float = 60) -> Lease:
    return Lease(name, "arm", NOW + timedelta(minutes=minutes))


def service(**annotations: str) -> Object:
    return {
        "metadata": {
            "name": "j",
            "namespace": "n",
            "annotations": {key.replace("_", "."): value for key, value in annotations.items()},
        }
    }


@given(st.dictionaries(HOLDERS, MINUTES, max_size=5))
def test_what_is_written_is_read(holders: dict[str, int]) -> None:
    leases = Leases({each.key: each for each in (lease(name, minutes) for name, minutes in holders.items())})
    body = written(service(other="kept"), leases)
    assert leases_of(body) == leases
    assert body["metadata"]["annotations"]["other"] == "kept"
    for name, minutes in holders.items():
        found = leases.of(name)
        assert found is not None
        assert found.expires == NOW + timedelta(minutes=minutes)


@given(st.dictionaries(HOLDERS, MINUTES, max_size=5), HOLDERS)
def test_the_last_live_lease_decides(holders: dict[str, int], mine: str) -> None:
    """Another machine's clock may be five minutes behind ours: until then its lease holds."""
    leases = Leases({each.key: each for each in (lease(name, minutes) for name, minutes in holders.items())})
    others = [name for name, minutes in holders.items() if name != mine and minutes > -5]
    after = leases.without(mine, NOW)
    assert (after.closing is None) == bool(others)
    assert sorted(each.holder for each in after.held.values()) == sorted(others)
    live = [name for name, minutes in holders.items() if minutes > -5]
    assert (leases.swept(NOW).closing is None) == bool(live)


def test_a_lease_holds_a_little_longer_than_it_says() -> None:
    assert lease(minutes=0).alive(NOW + SKEW - timedelta(seconds=1))
    assert not lease(minutes=0).alive(NOW + SKEW)


def test_closing_is_final() -> None:
    closed = Leases().swept(NOW)
    assert closed.closing == "2026-03-01T12:00:00+00:00"
    assert closed.without("x", NOW).closing == closed.closing
    assert leases_of(written(service(), closed)) == closed


def test_what_has_no_leases_is_not_ours() -> None:
    assert leases_of(service(other="x")) is None
    assert leases_of({"metadata": {"name": "j"}}) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"leases": []}',
        '{"leases": {"a": {}}}',
        '{"leases": {"a": {"holder": "h", "experiment": "e", "expires": "tomorrow"}}}',
        '{"leases": {"a": {"holder": "h", "experiment": "e", "expires": "2026-03-01T12:00:00"}}}',
    ],
)
def test_leases_that_cannot_be_read_end_nothing(text: str) -> None:
    body = service()
    body["metadata"]["annotations"]["gavel.dev/leases"] = text
    with pytest.raises(JudgeError, match="cannot be read") as error:
        leases_of(body)
    assert "n/j" in error.value.where


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"GAVEL_KFP_RUN": "4f1c", "GAVEL_RUN_ID": "r"}, "4f1c"),
        ({"GAVEL_RUN_ID": "r"}, "r"),
        ({"GAVEL_KFP_RUN": " ", "GAVEL_RUN_ID": "r"}, "r"),
    ],
)
def test_who_holds(variables: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GAVEL_KFP_RUN", "GAVEL_RUN_ID"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert holder() == name


def test_by_hand_it_is_the_user_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GAVEL_KFP_RUN", "GAVEL_RUN_ID"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("getpass.getuser", lambda: "me")
    monkeypatch.setattr("socket.gethostname", lambda: "box")
    assert holder() == "me@box"

    def nameless() -> str:
        raise KeyError("uid not found: 10001")

    monkeypatch.setattr("getpass.getuser", nameless)
    assert holder().endswith("@box")


@pytest.mark.parametrize(
    "expires", ["9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00", "soon", None, 7]
)
def test_a_time_at_the_end_of_all_time_is_one_or_is_told(expires: object) -> None:
    """A sweeper that stumbles over one judge would leave all others."""
    text = json.dumps({"leases": {"a": {"holder": "x", "experiment": "e", "expires": expires}}})
    body = service(**{"gavel.dev/leases": text})
    if expires == "9999-12-31T23:59:59+00:00":
        found = leases_of(body)
        assert found is not None
        assert len(found.live(NOW)) == 1
        return
    with pytest.raises(JudgeError, match="cannot be read"):
        leases_of(body)


def test_an_annotation_of_brackets_is_told() -> None:
    with pytest.raises(JudgeError, match="cannot be read"):
        leases_of(service(**{"gavel.dev/leases": "[" * 100_000}))
