"""Several endpoints and the circuit breaker: nobody fails because one of them does."""

import asyncio
import collections
import random

from scripted_wire import Came, Says, ScriptedWire, ask_all, transport
from virtual_time import now, run

from components.judge.failures import Failure
from components.judge.transport import Reply, Stats, Transport
from components.judge.transport.breaker import Breaker
from components.judge.verdict import UnknownReason


async def gathered(calls: Transport, numbers: range) -> list[Reply | Failure]:
    return list(await asyncio.gather(*(calls.post("/v1", {"number": number}) for number in numbers)))


def numbers_of(got: list[Reply | Failure]) -> list[object]:
    return [reply.data["number"] if isinstance(reply, Reply) else reply for reply in got]


def test_the_least_loaded_endpoint_is_asked() -> None:
    wire = ScriptedWire(lambda came: Says(seconds=3.0 if came.endpoint == 0 else 1.0))
    run(ask_all(wire, 200, endpoints=2, concurrency=8))
    seen = collections.Counter(came.endpoint for came in wire.came)
    # While one serves a call the other serves three.
    assert 2.5 <= seen[1] / seen[0] <= 3.5


def test_with_one_endpoint_dead_the_other_judges_all() -> None:
    wire = ScriptedWire(lambda came: Says(None, 0.0) if came.endpoint == 1 else Says())
    got = run(ask_all(wire, 300, endpoints=2))
    assert numbers_of(got) == list(range(300))
    assert {reply.endpoint for reply in got if isinstance(reply, Reply)} == {0}
    # Eight failures open the breaker; those under way beside them, and single trials, follow.
    assert 8 <= sum(came.endpoint == 1 for came in wire.came) <= 30


def test_with_one_endpoint_failing_inside_the_other_judges_all() -> None:
    wire = ScriptedWire(lambda came: Says(500, 0.01) if came.endpoint == 1 else Says())
    got = run(ask_all(wire, 300, endpoints=2, attempts=10))
    assert numbers_of(got) == list(range(300))


def test_an_endpoint_that_comes_back_is_used_again() -> None:
    wire = ScriptedWire(lambda came: Says(None, 0.0) if came.endpoint == 1 and came.time < 20.0 else Says())
    got = run(ask_all(wire, 3000, endpoints=2, concurrency=4))
    assert numbers_of(got) == list(range(3000))
    back = [came.time for came in wire.came if came.endpoint == 1 and came.time >= 20.0]
    # A trial comes no later than four seconds after the last one.
    assert back[0] <= 24.1
    assert len(back) > 500


def test_callers_are_paused_while_the_judge_is_down_and_resumed_after() -> None:
    wire = ScriptedWire(lambda came: Says(None, 0.0) if 5.0 <= came.time < 65.0 else Says())

    async def ask() -> tuple[list[Reply | Failure], Stats, Stats]:
        calls = transport(wire, concurrency=16, timeout=60.0)
        asked = asyncio.ensure_future(gathered(calls, range(1500)))
        await asyncio.sleep(30.0)
        paused = calls.stats()
        got = await asked
        return got, paused, calls.stats()

    got, paused, after = run(ask())
    assert numbers_of(got) == list(range(1500))
    assert paused.breakers[0] in ("open", "half-open")
    assert paused.in_flight <= 1
    assert paused.waiting > 500
    assert after.breakers == ("closed",)
    down = [came.time for came in wire.came if 5.0 <= came.time < 65.0]
    # 16 under way when it went, then trials at most every 0.25 s at first, every 2 to 4 s later.
    assert len(down) <= 16 + 8 + 35
    assert min(came.time for came in wire.came if came.time >= 65.0) <= 69.1


def test_half_open_lets_exactly_one_through() -> None:
    """The trial takes long: nobody else comes meanwhile, and its success lets all come."""
    wire = ScriptedWire(lambda came: Says(None, 0.0) if came.time < 3.0 else Says(seconds=5.0))
    got = run(ask_all(wire, 100, concurrency=16, timeout=60.0))
    assert numbers_of(got) == list(range(100))
    trial, *others = [came.time for came in wire.came if came.time >= 3.0]
    assert min(others) >= trial + 5.0


def test_a_cancelled_trial_makes_room_for_another() -> None:
    wire = ScriptedWire(lambda came: Says(None, 0.0) if came.time < 3.0 else Says(seconds=5.0))

    async def ask() -> list[Reply | Failure]:
        calls = transport(wire, concurrency=16, timeout=60.0)
        tasks = [asyncio.create_task(calls.post("/v1", {"number": number})) for number in range(20)]
        while not wire.came or wire.came[-1].time < 3.0:  # noqa: ASYNC110  no events
            await asyncio.sleep(0.05)
        tasks[wire.came[-1].number].cancel()
        return [each for each in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(each, Reply)]

    assert len(run(ask())) == 19


def test_the_breaker_by_hand() -> None:
    breaker = Breaker(random.Random(1))
    for _ in range(7):
        assert not breaker.failed(0.0, 1.0)
    assert breaker.state(1.0) == "closed"
    assert breaker.failed(0.0, 1.0)
    assert breaker.state(1.0) == "open"
    rest = breaker.wait(1.0)
    assert 0.25 <= rest <= 0.5
    # Those that were under way fail too; that says nothing new.
    assert not breaker.failed(0.5, 1.1)
    assert breaker.wait(1.0) == rest
    assert breaker.state(2.0) == "half-open"
    assert breaker.wait(2.0) == 0.0
    breaker.enter()
    assert breaker.wait(2.0) == float("inf")
    assert not breaker.failed(2.0, 2.1)
    assert 0.5 <= breaker.wait(2.1) <= 1.0
    breaker.enter()
    assert breaker.answered()
    assert breaker.state(3.2) == "closed"
    assert breaker.wait(3.2) == 0.0


def test_an_answer_between_failures_begins_the_count_anew() -> None:
    breaker = Breaker(random.Random(1))
    for round_ in range(10):
        for _ in range(7):
            assert not breaker.failed(float(round_), round_ + 0.5)
        breaker.answered()
    assert breaker.state(20.0) == "closed"


def test_a_judge_that_stays_down_ends_in_a_typed_failure() -> None:
    wire = ScriptedWire(lambda _: Says(None, 0.0))

    async def ask() -> tuple[list[Reply | Failure], float]:
        got = await gathered(transport(wire, timeout=10.0, attempts=3), range(100))
        return got, now()

    got, ended = run(ask())
    assert all(isinstance(each, Failure) and each.reason is UnknownReason.JUDGE_DOWN for each in got)
    # Three times ten seconds without an answer to anybody, and the last trial.
    assert 25.0 <= ended <= 65.0


def test_a_flooded_endpoint_is_left_in_peace_as_long_as_it_asks() -> None:
    def server(came: Came) -> Says:
        return Says(503, headers={"Retry-After": "20"}) if came.endpoint == 0 and came.time < 20.0 else Says()

    wire = ScriptedWire(server)
    got = run(ask_all(wire, 1200, endpoints=2, concurrency=4))
    assert numbers_of(got) == list(range(1200))
    assert not [came for came in wire.came if came.endpoint == 0 and 0.2 < came.time < 20.0]
    assert [came for came in wire.came if came.endpoint == 0 and came.time > 20.0]
