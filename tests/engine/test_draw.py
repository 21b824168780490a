"""The order of a mixture's prompts, by hand calculation and by properties of every draw."""

import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.draw import DrawPlan, read_plan
from components.core.errors import ContractError
from components.engine.draw import Draw, Shares

DOMAINS = {"gsm8k": "math", "math": "math", "squad2": "qa", "hotpotqa": "qa", "mbpp": "code"}
WEIGHTS = {"math": 4.0, "qa": 3.0, "code": 3.0}


def plan(cap: int = 4, *, by_size: bool = False, weights: dict[str, float] | None = None) -> DrawPlan:
    return DrawPlan(weights or WEIGHTS, DOMAINS, by_size, cap)


def table(**rows: int) -> list[str]:
    """Rows of the sets in turns, as a table that is not sorted by set."""
    longest = max(rows.values())
    return [name for number in range(longest) for name, count in rows.items() if number < count]


LARGE = table(gsm8k=60, math=60, squad2=60, hotpotqa=60, mbpp=60)


def drawn(draw: Draw, sources: list[str], count: int) -> list[str]:
    return [sources[row] for row in itertools.islice(draw, count)]


def test_ten_batches_of_four_hold_sixteen_twelve_and_twelve():
    found = drawn(Draw(plan(), LARGE, batch=4, seed=1), LARGE, 40)
    assert Counter(DOMAINS[name] for name in found) == {"math": 16, "qa": 12, "code": 12}
    assert Counter(found) == {"gsm8k": 8, "math": 8, "squad2": 6, "hotpotqa": 6, "mbpp": 12}


def test_each_batch_by_hand():
    # Quotas 1.6, 1.2, 1.2 with what is carried: the largest remainders go up, equal ones by name.
    found = drawn(Draw(plan(), LARGE, batch=4, seed=1), LARGE, 20)
    batches = [Counter(DOMAINS[name] for name in found[first : first + 4]) for first in range(0, 20, 4)]
    assert [(batch["math"], batch["qa"], batch["code"]) for batch in batches] == [
        (2, 1, 1),
        (1, 1, 2),
        (2, 1, 1),
        (1, 2, 1),
        (2, 1, 1),
    ]


def test_old_rule_would_have_given_half_to_mathematics():
    # int(batch * share) and the rest to the first domain: 2, 1, 1 in each batch, 20/10/10 of 40.
    found = drawn(Draw(plan(), LARGE, batch=4, seed=3), LARGE, 40)
    assert Counter(DOMAINS[name] for name in found)["math"] != 20


def test_what_a_set_cannot_give_below_the_cap_goes_to_the_others_of_its_domain():
    sources = table(gsm8k=2, math=50, squad2=50, hotpotqa=50, mbpp=50)
    draw = Draw(plan(cap=2), sources, batch=4, seed=0)
    found = Counter(drawn(draw, sources, 100))
    assert found["gsm8k"] == 4
    assert (found["gsm8k"] + found["math"], found["squad2"], found["hotpotqa"], found["mbpp"]) == (40, 15, 15, 30)
    assert draw.over_cap == 0
    assert draw.epochs["gsm8k"] == 2.0


def test_what_a_domain_cannot_give_goes_to_the_others_by_their_weights():
    sources = table(gsm8k=100, math=100, squad2=100, hotpotqa=100, mbpp=2)
    found = Counter(DOMAINS[name] for name in drawn(Draw(plan(cap=1), sources, batch=10, seed=0), sources, 142))
    # After 2 of code, 140 are shared 4:3.
    assert found == {"math": 80, "qa": 60, "code": 2}


def test_every_row_is_drawn_before_one_is_drawn_again():
    sources = table(gsm8k=7, math=5, squad2=9, hotpotqa=4, mbpp=6)
    rows = list(itertools.islice(Draw(plan(cap=3), sources, batch=4, seed=5), 93))
    for name in DOMAINS:
        mine = [row for row in rows if sources[row] == name]
        size = sources.count(name)
        for first in range(0, len(mine), size):
            one_pass = mine[first : first + size]
            assert len(set(one_pass)) == len(one_pass)
    assert max(Counter(rows).values()) == min(Counter(rows).values()) == 3


def test_beyond_the_cap_is_counted_and_keeps_the_shares():
    sources = table(gsm8k=2, math=2, squad2=2, hotpotqa=2, mbpp=2)
    draw = Draw(plan(cap=1), sources, batch=4, seed=5)
    assert Counter(itertools.islice(draw, 10)) == dict.fromkeys(range(10), 1)
    assert draw.over_cap == 0
    next(draw)
    assert (draw.over_cap, draw.count) == (1, 11)


def test_by_size_shares_a_domain_by_its_rows():
    sources = table(gsm8k=30, math=10, squad2=20, hotpotqa=20, mbpp=40)
    found = Counter(drawn(Draw(plan(cap=9, by_size=True), sources, batch=10, seed=0), sources, 100))
    assert found == {"gsm8k": 30, "math": 10, "squad2": 15, "hotpotqa": 15, "mbpp": 30}


def test_a_domain_without_weight_or_rows_takes_no_part():
    sources = table(gsm8k=30, squad2=30, mbpp=30)
    weights = {"math": 1.0, "qa": 1.0, "code": 0.0}
    found = Counter(drawn(Draw(plan(weights=weights), sources, batch=4, seed=0), sources, 20))
    assert found == {"gsm8k": 10, "squad2": 10}


def test_another_seed_is_another_order_and_the_same_shares():
    one, two = (list(itertools.islice(Draw(plan(), LARGE, batch=4, seed=seed), 60)) for seed in (1, 2))
    assert one != two
    assert Counter(LARGE[row] for row in one) == Counter(LARGE[row] for row in two)


SIZES = st.fixed_dictionaries({name: st.integers(0, 12) for name in DOMAINS}).filter(lambda sizes: any(sizes.values()))


@settings(deadline=None, max_examples=60)
@given(
    sizes=SIZES,
    batch=st.integers(1, 9),
    cap=st.integers(1, 4),
    seed=st.integers(0, 99),
    by_size=st.booleans(),
    part=st.floats(0, 1),
)
def test_cap_shares_and_resume_hold_for_every_draw(
    sizes: dict[str, int], batch: int, cap: int, seed: int, by_size: bool, part: float
):
    sources = table(**sizes)
    the_plan = plan(cap, by_size=by_size)
    room = cap * len(sources)
    order = list(itertools.islice(Draw(the_plan, sources, batch=batch, seed=seed), room))
    assert set(Counter(order).values()) == {cap}
    # Killed anywhere, it goes on with what would have come.
    resumed = Draw(the_plan, sources, batch=batch, seed=seed)
    resumed.skip(int(part * room))
    assert list(itertools.islice(resumed, room - int(part * room))) == order[int(part * room) :]
    # As long as no set has run dry, whole batches are within one prompt of the shares in each domain.
    present = {DOMAINS[name] for name, size in sizes.items() if size}
    whole = sum(WEIGHTS[domain] for domain in present)
    left = Counter({name: cap * size for name, size in sizes.items()})
    for first in range(0, room - batch + 1, batch):
        left.subtract(sources[row] for row in order[first : first + batch])
        if min(left[name] for name, size in sizes.items() if size) <= 0:
            break
        so_far = Counter(DOMAINS[sources[row]] for row in order[: first + batch])
        for domain in present:
            assert abs(so_far[domain] - (first + batch) * WEIGHTS[domain] / whole) < 1.5


@settings(deadline=None)
@given(
    weights=st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1),
    totals=st.lists(st.integers(0, 20), min_size=1, max_size=12),
)
def test_shares_without_limits_stay_within_one_of_the_quota(weights: dict[str, int], totals: list[int]):
    shares = Shares({key: Fraction(weight) for key, weight in weights.items()})
    taken: Counter[str] = Counter()
    for total in totals:
        found = shares.take(total, dict.fromkeys(weights, 10**6))
        assert found.total() == total
        taken += found
    for key, weight in weights.items():
        quota = Fraction(sum(totals) * weight, sum(weights.values()))
        assert -len(weights) < taken[key] - quota < len(weights)


def test_the_plan_is_what_prepare_data_writes(tmp_path: Path):
    path = tmp_path / "draw.json"
    value: dict[str, Any] = {
        "draw": "weights",
        "seed": 0,
        "weights": {"math": 4, "code": 3.0},
        "within": "equal",
        "repeat_cap": 4,
        "sets": {"gsm8k": {"domain": "math", "rows": 3, "share": 0.57}, "mbpp": {"domain": "code", "rows": 2}},
    }
    path.write_text(json.dumps(value))
    found = read_plan(path)
    assert found == DrawPlan({"math": 4.0, "code": 3.0}, {"gsm8k": "math", "mbpp": "code"}, False, 4)
    assert found.drawn_from() == ["gsm8k", "mbpp"]
    for change, words in (
        ({"within": "half"}, "within"),
        ({"repeat_cap": 0}, "at least 1"),
        ({"weights": {"math": -1, "code": 1}}, "at least 0"),
        ({"weights": {"math": 0, "code": 0}}, "nothing is drawn"),
        ({"sets": {"gsm8k": {"domain": "art"}}}, "no weight"),
        ({"sets": {"gsm8k": 3}}, "no domain"),
    ):
        path.write_text(json.dumps(value | change))
        with pytest.raises(ContractError, match=words):
            read_plan(path)
    path.unlink()
    with pytest.raises(ContractError, match="cannot be read"):
        read_plan(path)


def test_rows_of_an_unknown_set_are_refused():
    with pytest.raises(ContractError, match="'triviaqa'"):
        Draw(plan(), ["gsm8k", "triviaqa"], batch=4, seed=0)
