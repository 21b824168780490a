"""The schedule against the published formulas and the values worked out by hand from them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.spec.scaffold import ScaffoldSpec
from components.scaffold.schedule import group_share, ratio, step_share

PUBLISHED = [ScaffoldSpec(midpoint=0.2, steepness=125.0), ScaffoldSpec(midpoint=0.1, steepness=200.0)]


def test_shares_of_a_group_of_eight() -> None:
    found = [group_share(ScaffoldSpec(), index, 8) for index in range(8)]
    assert found == pytest.approx([1, 0.857, 0.714, 0.571, 0.429, 0.286, 0.143, 0], abs=5e-4)
    assert group_share(ScaffoldSpec(), 0, 1) == 1.0


def test_a_binary_group_shows_all_to_its_first_samples() -> None:
    spec = ScaffoldSpec(group="binary", full=2)
    assert [group_share(spec, index, 5) for index in range(5)] == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_the_sigmoid_at_the_steps_worked_out_by_hand() -> None:
    spec = PUBLISHED[0]
    assert step_share(spec, 1, 350) == pytest.approx(1.0, abs=1e-9)
    # x = 0.2 lies between steps 70 and 71 of 350; 58 and 84 are where the share passes 0.99 and 0.01.
    assert step_share(spec, 70, 350) > 0.5 > step_share(spec, 71, 350)
    assert step_share(spec, 58, 350) == pytest.approx(0.99, abs=2e-3)
    assert step_share(spec, 84, 350) == pytest.approx(0.01, abs=2e-3)
    assert step_share(spec, 91, 350) < 0.001
    # Code defaults of the published program: t0 = 0.3, alpha = 10.
    gentle = ScaffoldSpec(midpoint=0.3, steepness=10.0)
    assert step_share(gentle, 1, 100) == pytest.approx(0.953, abs=5e-4)
    assert step_share(gentle, 100, 100) == pytest.approx(0.0009, abs=5e-5)


@pytest.mark.parametrize("spec", PUBLISHED)
@pytest.mark.parametrize("steps", [1, 2, 17, 350])
def test_the_sigmoid_over_all_steps(spec: ScaffoldSpec, steps: int) -> None:
    for step in range(1, steps + 1):
        x = 0.0 if steps == 1 else (step - 1) / (steps - 1)
        # The logistic function by tanh, which shares no expression with ours.
        expected = 0.5 * (1.0 - math.tanh(spec.steepness * (x - spec.midpoint) / 2.0))
        assert step_share(spec, step, steps) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("steps", [2, 17, 350])
def test_linear_and_power_over_all_steps(steps: int) -> None:
    linear, power = ScaffoldSpec(decay="linear"), ScaffoldSpec(decay="power", power=3.0)
    for step in range(1, steps + 1):
        left = (steps - step) / (steps - 1)
        assert step_share(linear, step, steps) == pytest.approx(left, abs=1e-12)
        assert step_share(power, step, steps) == pytest.approx(left * left * left, abs=1e-12)
    assert step_share(ScaffoldSpec(decay="none"), steps, steps) == 1.0


@given(
    st.sampled_from([*PUBLISHED, ScaffoldSpec(decay="linear"), ScaffoldSpec(group="binary", decay="none")]),
    st.integers(1, 2000),
    st.data(),
)
def test_ratios_stay_within_bounds_and_fall(spec: ScaffoldSpec, steps: int, data: st.DataObject) -> None:
    group = data.draw(st.integers(2, 16))
    step, index = data.draw(st.integers(1, steps)), data.draw(st.integers(0, group - 1))
    here = ratio(spec, step=step, steps=steps, index=index, group=group)
    assert 0.0 <= here <= 1.0
    if step < steps:
        assert ratio(spec, step=step + 1, steps=steps, index=index, group=group) <= here
    if index + 1 < group:
        assert ratio(spec, step=step, steps=steps, index=index + 1, group=group) <= here


def test_a_sample_outside_of_its_group_is_refused() -> None:
    with pytest.raises(ValueError, match="sample 4 of a group of 4"):
        group_share(ScaffoldSpec(), 4, 4)
