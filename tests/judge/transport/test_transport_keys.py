"""Several keys: least loaded first, each with its own rests and rates; a refused one is named by its place alone."""

import asyncio
import collections
import logging
from pathlib import Path

import pytest
from scripted_wire import Came, Says, ScriptedWire, ask_all, transport
from virtual_time import run

from components.judge.failures import Failure
from components.judge.memory import Account, Ledger
from components.judge.transport import Reply
from components.judge.verdict import UnknownReason


def test_calls_under_way_are_spread_evenly() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=1.0))
    got = run(ask_all(wire, 12, keys=3, concurrency=12))
    assert collections.Counter(came.key for came in wire.came) == {0: 4, 1: 4, 2: 4}
    assert sorted(reply.key for reply in got if isinstance(reply, Reply)) == [0] * 4 + [1] * 4 + [2] * 4


def test_a_slow_key_gets_fewer_calls() -> None:
    wire = ScriptedWire(lambda came: Says(seconds=4.0 if came.key == 0 else 1.0))
    run(ask_all(wire, 100, keys=2, concurrency=8))
    seen = collections.Counter(came.key for came in wire.came)
    assert seen[1] > 2 * seen[0] > 0


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_used_no_more(status: int, caplog: pytest.LogCaptureFixture) -> None:
    wire = ScriptedWire(lambda came: Says(status if came.key == 1 else 200))
    with caplog.at_level(logging.WARNING):
        got = run(ask_all(wire, 60, keys=3, concurrency=6))
    assert [reply.data for reply in got if isinstance(reply, Reply)] == [{"number": number} for number in range(60)]
    # A call takes 0.1 s: at 0.2 s the first of the refused ones has been accepted with another key.
    assert 0.0 <= max(came.time for came in wire.came if came.key == 1) <= 0.201
    assert [record.message for record in caplog.records].count(
        "key 2 of 3 is refused by the judge and used no more"
    ) == 1
    assert "key-1" not in caplog.text


def test_a_lone_refused_key_ends_the_call_at_once() -> None:
    wire = ScriptedWire(lambda _: Says(401))
    (got,) = run(ask_all(wire, 1, keys=1))
    assert isinstance(got, Failure)
    assert (got.reason, got.attempts, len(wire.came)) == (UnknownReason.REJECTED, 1, 1)
    assert "api_key_env" in got.detail
    assert "key-0" not in got.detail


def test_when_all_keys_are_refused_each_was_tried_once() -> None:
    wire = ScriptedWire(lambda _: Says(401))
    (got,) = run(ask_all(wire, 1, keys=3))
    assert isinstance(got, Failure)
    assert sorted(came.key for came in wire.came) == [0, 1, 2]
    assert "none of the 3 keys is accepted" in got.detail


def test_a_call_that_every_key_is_refused_for_takes_no_key_out() -> None:
    """A provider may forbid one question; the keys are good for all others."""
    wire = ScriptedWire(lambda came: Says(403 if came.number == 0 else 200))

    async def ask() -> list[Reply | Failure]:
        calls = transport(wire, keys=2)
        got = [await calls.post("/v1", {"number": number}) for number in (0, 1, 2)]
        assert calls.stats().keys_out == ()
        return got

    first, *others = run(ask())
    assert isinstance(first, Failure)
    assert all(isinstance(each, Reply) for each in others)


def test_the_rest_that_a_server_asks_for_is_one_keys() -> None:
    def server(came: Came) -> Says:
        return Says(429, headers={"Retry-After": "30"}) if came.key == 0 and came.time < 30.0 else Says()

    wire = ScriptedWire(server)
    got = run(ask_all(wire, 40, keys=2, concurrency=2, timeout=100.0))
    assert all(isinstance(reply, Reply) for reply in got)
    refused = [came.time for came in wire.came if came.key == 0]
    assert len(refused) == 1
    assert len({came.key for came in wire.came if came.time > 0.2}) == 1


def test_with_one_key_everybody_rests_as_long_as_asked() -> None:
    def server(came: Came) -> Says:
        return Says(429, headers={"retry-after-ms": "12500"}) if came.time < 12.0 else Says()

    wire = ScriptedWire(server)
    got = run(ask_all(wire, 40, keys=1, concurrency=4, timeout=100.0))
    assert all(isinstance(reply, Reply) for reply in got)
    assert len([came for came in wire.came if came.time < 12.6]) == 4
    assert min(came.time for came in wire.came if came.time > 1.0) >= 12.6


def test_each_key_has_a_rate_of_its_own() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=0.1))
    run(ask_all(wire, 240, keys=2, concurrency=50, requests_per_minute=60, timeout=1000.0))
    for key in (0, 1):
        times = [came.time for came in wire.came if came.key == key]
        assert max(sum(begin <= time < begin + 60.0 for time in times) for begin in times) <= 60
    # 120 a minute: two bursts of two, then what flows in.
    assert 110.0 <= wire.came[-1].time <= 130.0


def test_a_share_of_the_limits_is_what_is_used() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=5.0))
    run(ask_all(wire, 90, concurrency=40, share=0.25, requests_per_minute=240, timeout=1000.0))
    assert wire.most <= 10
    times = [came.time for came in wire.came]
    assert max(sum(begin <= time < begin + 60.0 for time in times) for begin in times) <= 60


def test_tokens_are_charged_before_and_corrected_after() -> None:
    """6,000 tokens a minute; calls that may take 1,000 take 100: what is given back serves further calls."""
    wire = ScriptedWire(lambda _: Says(seconds=0.1))

    async def ask(correct: bool) -> float:
        calls = transport(wire, tokens_per_minute=6000, timeout=10_000.0)
        begun = asyncio.get_running_loop().time()
        for number in range(60):
            got = await calls.post("/v1", {"number": number}, tokens=1000)
            assert isinstance(got, Reply)
            if correct:
                got.used(100)
        return asyncio.get_running_loop().time() - begun

    assert run(ask(False)) > 8 * 60.0
    assert run(ask(True)) < 3 * 60.0


def test_a_failure_names_the_key_and_the_endpoint_of_its_last_call() -> None:
    wire = ScriptedWire(lambda _: Says(401))
    (got,) = run(ask_all(wire, 1, keys=3))
    assert isinstance(got, Failure)
    assert (got.key, got.endpoint) == (wire.came[-1].key, 0)


def test_a_call_that_was_never_made_names_none() -> None:
    async def unmade() -> Reply | Failure:
        calls = transport(ScriptedWire(lambda _: Says()), keys=3)
        await calls.close()
        return await calls.post("/v1", {"number": 0})

    got = run(unmade())
    assert isinstance(got, Failure)
    assert (got.attempts, got.key, got.endpoint) == (0, None, None)


def test_the_ledger_has_them(tmp_path: Path) -> None:
    failure = Failure(UnknownReason.JUDGE_DOWN, "no", None, 2, 1, 3)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        Account("j", "rubric/1", ledger=ledger).record(b"{}", 0.0, attempts=2, failure=failure)
        (row,) = ledger.calls()
    assert (row.key, row.endpoint, row.reason) == (1, 3, "judge_down")
