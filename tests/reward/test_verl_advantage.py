"""The estimator as verl calls it."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

core_algos = pytest.importorskip("verl.trainer.ppo.core_algos")
from components.reward.verl_advantage import NAME, gavel_grpo  # noqa: E402


def rewards_at_last_token(totals: list[float], lengths: list[int], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    rewards, mask = torch.zeros(len(totals), width), torch.zeros(len(totals), width)
    for row, (total, length) in enumerate(zip(totals, lengths, strict=True)):
        mask[row, :length] = 1
        if length:
            rewards[row, length - 1] = total
    return rewards, mask


def test_it_is_registered():
    assert core_algos.get_adv_estimator_fn(NAME) is gavel_grpo


def test_it_equals_verls_own_estimator_where_that_one_is_right():
    rewards, mask = rewards_at_last_token([0.1, 0.9, 0.4, 0.7, 0.2, 0.3], [3, 5, 2, 4, 5, 1], 5)
    index = np.array(["a", "a", "a", "b", "b", "b"], dtype=object)
    ours, returns = gavel_grpo(rewards, mask, index)
    theirs, _ = core_algos.compute_grpo_outcome_advantage(rewards.clone(), mask, index)
    assert torch.allclose(ours, theirs, atol=1e-4)
    assert torch.equal(ours, returns)


def test_a_lone_survivor_gets_nothing_where_verls_gives_its_raw_score():
    rewards, mask = rewards_at_last_token([0.9, 0.0], [3, 0], 4)
    index = np.array(["a", "pad1"], dtype=object)
    theirs, _ = core_algos.compute_grpo_outcome_advantage(rewards.clone(), mask, index)
    assert theirs[0, 0].item() == pytest.approx(0.9, abs=1e-4)
    ours, _ = gavel_grpo(rewards, mask, index)
    assert ours.abs().sum().item() == 0


def test_padding_rows_take_no_part():
    rewards, mask = rewards_at_last_token([0.2, 0.8, 0.0], [3, 2, 0], 4)
    index = np.array(["a", "a", "a"], dtype=object)
    ours, _ = gavel_grpo(rewards, mask, index)
    deviation = 0.6 / 2**0.5
    assert ours[1, 0].item() == pytest.approx(0.3 / deviation, rel=1e-5)
    assert ours[2].abs().sum().item() == 0


ROWS = st.lists(st.tuples(st.floats(0, 1, width=32), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=24)


@given(ROWS, st.booleans())
def test_random_masks_against_a_formula_over_matrices_in_float64(rows: list[tuple[float, int, int]], divide: bool):
    totals, groups, lengths = (list(column) for column in zip(*rows, strict=True))
    rewards, mask = rewards_at_last_token(totals, lengths, 5)
    ours, returns = gavel_grpo(
        rewards,
        mask,
        np.array([f"u{group}" for group in groups], dtype=object),
        config={"norm_adv_by_std_in_grpo": divide},
    )
    # One matrix of "same group and both judged" replaces the loop over groups.
    judged = np.array(lengths) > 0
    labels = np.array(groups)
    same = (labels[:, None] == labels[None, :]) & judged[None, :] & judged[:, None]
    values = np.where(judged, np.array(totals, dtype=np.float64), 0.0)
    count = same.sum(1)
    mean = same @ values / np.maximum(count, 1)
    squares = (same * (values[None, :] - mean[:, None]) ** 2).sum(1)
    deviation = np.sqrt(squares / np.maximum(count - 1, 1))
    trained = judged & (count >= 2) & (deviation > 1e-6)
    expected = np.where(trained, (values - mean) / np.where(trained & divide, deviation, 1.0), 0.0)
    assert torch.equal(ours, returns)
    assert np.allclose(ours.double().numpy(), expected[:, None] * mask.numpy(), rtol=1e-4, atol=1e-5)
    # Within a group the advantages of the judged samples sum to zero, whatever was masked.
    for group in set(groups):
        assert abs(sum(expected[labels == group])) < 1e-5 * len(rows) + 1e-9
