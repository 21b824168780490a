"""Messages by way of the store: what is written is read, and what is none is told where it lies."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kube_fixture import Api
from operators import Ray, RayOperator
from ray_training import BASE, PLACE, Played
from test_rayjob_follow import QUICK, InThread, wait_for

from components.core.errors import ContractError
from components.core.store import Store
from components.kube.kinds import RAY_JOBS
from components.rayjob import messages
from components.rayjob.messages import ATTEMPTS, FAILURE, HEARTBEAT, REQUEST, Attempts, Failure, Heartbeat, Request

BEAT = Heartbeat("tiny-r1", "abc", 7, "waiting-for-judge", 3, "a note", 1.5)
READERS = {
    HEARTBEAT: messages.read_heartbeat,
    FAILURE: messages.read_failure,
    ATTEMPTS: messages.read_attempts,
    REQUEST: lambda store, place: messages.read_request(store, f"{place}/{REQUEST}"),
}
WHOLE: dict[str, Any] = {
    HEARTBEAT: BEAT,
    FAILURE: Failure("tiny-r1", "JudgeError", "what", "where", "remedy", True),
    ATTEMPTS: Attempts(4, 2),
    REQUEST: Request("{}", {"data": "s3://b/x"}, {"ruler": "http://ruler"}),
}
WRONG: dict[str, list[Any]] = {"str": [1, None, ["a"]], "int": ["1", 1.5, None, True], "bool": ["true", 1, None]}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open((tmp_path / "store").as_uri())


def put(store: Store, name: str, content: bytes) -> None:
    store.write_bytes(f"{PLACE}/{name}", content)


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_written_is_read(store: Store, name: str) -> None:
    messages.write(store, PLACE, name, WHOLE[name])
    assert READERS[name](store, PLACE) == WHOLE[name]


def spoilt() -> list[tuple[str, bytes]]:
    """Each field of each message once with each wrong type, once missing; and what is no message at all."""
    found: list[tuple[str, bytes]] = []
    for name, message in WHOLE.items():
        whole = dataclasses.asdict(message)
        for field in dataclasses.fields(message):
            kind = type(whole[field.name]).__name__
            wrong = WRONG.get(kind, [[], "x", {"a": 1}, None] if kind == "dict" else ["1", None, []])
            found += [(name, json.dumps({**whole, field.name: value}).encode()) for value in wrong]
            if field.default is dataclasses.MISSING:
                found.append((name, json.dumps({key: whole[key] for key in whole if key != field.name}).encode()))
        found.append((name, json.dumps({**whole, "more": 1}).encode()))
        found += [(name, text) for text in (b"", b"{", b"\xff\xfe", b"[1]", b'"text"', b"7", b"[" * 100_000)]
    return [*found, (HEARTBEAT, json.dumps({**dataclasses.asdict(BEAT), "state": "asleep"}).encode())]


@pytest.mark.parametrize(("name", "content"), spoilt())
def test_what_is_no_message_is_told_with_its_place(store: Store, name: str, content: bytes) -> None:
    put(store, name, content)
    with pytest.raises(ContractError) as caught:
        READERS[name](store, PLACE)
    assert f"{PLACE}/{name}" in caught.value.where
    assert caught.value.remedy == "delete it"
    assert len(caught.value.what) < 300


@settings(deadline=None, max_examples=100)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=4))
def test_any_value_for_a_number_is_a_number_or_told(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    store = Store.open((tmp_path_factory.mktemp("s") / "store").as_uri())
    put(store, HEARTBEAT, json.dumps({**dataclasses.asdict(BEAT), "sequence": value}).encode())
    try:
        found = messages.read_heartbeat(store, PLACE)
    except ContractError:
        assert type(value) is not int
    else:
        assert found is not None
        assert found.sequence == value
        assert type(found.sequence) is int


def test_a_heartbeat_of_wrong_types_is_told_outside_and_is_no_hang(double: Api, played: Played) -> None:
    patience = dataclasses.replace(QUICK, stall=0.6)
    put(played.store, HEARTBEAT, b'{"attempt": 1, "sequence": "many"}')
    with RayOperator(double, Ray("hangs")):
        step = InThread(double, played, patience)
        wait_for(lambda: "the driver's heartbeat cannot be read: not a Heartbeat" in played.output)
        # Then a whole one: its driver lives.
        with played.beating([BASE]):
            wait_for(lambda: "step " in played.output)
            played.publish()
            double.cluster().delete(RAY_JOBS, BASE)
            step.result()
    assert "hung" not in played.output
