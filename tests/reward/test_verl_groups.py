"""Masks between sampling and update: which rows verl's loss still sees, and what reaches its metrics."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("verl")
from tensordict import TensorDict  # noqa: E402
from test_rollout_log import row  # noqa: E402
from verl.trainer.ppo.core_algos import agg_loss  # noqa: E402

from components.reward import verl_groups  # noqa: E402
from components.reward.judge_rates import Judged  # noqa: E402
from components.reward.rollout_log import RolloutLog  # noqa: E402
from components.reward.verl_advantage import gavel_grpo  # noqa: E402


class Queue:
    """TransferQueue's three calls over a dict."""

    def __init__(self, rows: dict[str, dict[str, Any]]) -> None:
        self.rows = rows

    def kv_batch_get(self, *, keys: list[str], partition_id: str, select_fields: list[str]) -> TensorDict:
        columns = {
            name: torch.nested.as_nested_tensor([self.rows[key][name] for key in keys], layout=torch.jagged)
            for name in select_fields
        }
        return TensorDict(columns, batch_size=len(keys))

    def kv_batch_put(self, *, keys: list[str], partition_id: str, fields: TensorDict) -> None:
        for name in fields.keys():  # noqa: SIM118  (a TensorDict is iterated over its rows)
            for key, value in zip(keys, fields[name], strict=True):
                self.rows[key][name] = value


def masked(rewards: list[float], groups: list[str], lengths: list[int]) -> tuple[Queue, list[str], dict[str, float]]:
    keys, rows = [], {}
    for number, (reward, group, length) in enumerate(zip(rewards, groups, lengths, strict=True)):
        scores = torch.zeros(length)
        scores[-1] = reward
        mask = torch.ones(length, dtype=torch.int64)
        keys.append(f"{group}_{number}_0")
        rows[keys[-1]] = {"rm_scores": scores, "response_mask": mask, "loss_mask": mask}
    queue = Queue(rows)
    real, verl_groups.tq = verl_groups.tq, queue
    try:
        found = verl_groups.mask_groups(SimpleNamespace(keys=keys, partition_id="train"))
    finally:
        verl_groups.tq = real
    return queue, keys, found


def test_lone_survivors_and_equal_groups_are_masked_and_counted():
    groups = ["a", "a", "b", "c", "c", "d_e", "d_e"]
    queue, keys, found = masked([0.1, 0.9, 0.9, 0.4, 0.4, 0.0, 1.0], groups, [3, 2, 4, 1, 2, 2, 2])
    assert found == {"judge/groups": 4.0, "judge/masked_groups": 2.0, "judge/masked_samples": 3.0}
    seen = [int(queue.rows[key]["response_mask"].sum()) for key in keys]
    assert seen == [3, 2, 0, 0, 0, 2, 2]
    assert [int(queue.rows[key]["loss_mask"].sum()) for key in keys] == seen
    assert [len(queue.rows[key]["response_mask"]) for key in keys] == [3, 2, 4, 1, 2, 2, 2]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.integers(0, 3), st.integers(1, 4)), min_size=1))
def test_exactly_the_groups_without_two_values_are_masked(rows: list[tuple[float, int, int]]):
    queue, keys, _ = masked([r for r, _, _ in rows], [f"g{g}" for _, g, _ in rows], [n for _, _, n in rows])
    for key, (_, group, length) in zip(keys, rows, strict=True):
        values = {reward for reward, other, _ in rows if other == group}
        assert int(queue.rows[key]["response_mask"].sum()) == (length if len(values) > 1 else 0)


GROUP = st.lists(
    st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, width=32)), min_size=1, max_size=16
)


@given(st.lists(GROUP, min_size=1, max_size=4))
@example([[0.7]])
@example([[None] * 16])
@example([[None, 0.9, None]])
@example([[0.4] * 16, [0.0, 1.0]])
@example([[None, 1.0, 0.0, 0.5] * 4])
def test_from_rewards_to_masks_and_advantages_against_a_direct_formula(groups: list[list[float | None]]):
    """Groups of 1 to 16 samples; None abstained, and verl has dropped it. The formula is written anew in float64."""
    rows = [(f"g{number}", reward) for number, group in enumerate(groups) for reward in group if reward is not None]
    if not rows:
        return
    queue, keys, _ = masked([reward for _, reward in rows], [name for name, _ in rows], [2] * len(rows))
    scores = torch.stack([queue.rows[key]["rm_scores"] for key in keys])
    masks = torch.stack([queue.rows[key]["response_mask"] for key in keys])
    # verl fills the batch up with rows without any token.
    scores, masks = torch.cat([scores, scores[:1]]), torch.cat([masks, torch.zeros_like(masks[:1])])
    index = np.array([*(name for name, _ in rows), rows[0][0]], dtype=object)
    advantages, _ = gavel_grpo(scores, masks, index)
    assert advantages[-1].abs().sum().item() == 0
    for place, (name, reward) in enumerate(rows):
        judged = np.array([other for group, other in rows if group == name], dtype=np.float64)
        deviation = np.sqrt(np.sum((judged - judged.sum() / len(judged)) ** 2) / max(1, len(judged) - 1))
        learns = len(judged) > 1 and deviation > 1e-6
        assert queue.rows[keys[place]]["loss_mask"].tolist() == masks[place].tolist() == [int(learns)] * 2
        expected = (reward - judged.sum() / len(judged)) / deviation if learns else 0.0
        assert advantages[place].tolist() == pytest.approx([expected] * 2, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("mode", ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean"])
def test_a_masked_row_leaves_verls_loss_as_if_it_were_not_there(mode: str):
    torch.manual_seed(0)
    loss = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(4, 5, dtype=torch.bool)
    mask[1] = mask[3] = False
    whole = agg_loss(loss, mask, mode)
    alone = agg_loss(loss[[0, 2]], mask[[0, 2]], mode)
    assert whole.item() == pytest.approx(alone.item())
    whole.backward()
    assert loss.grad is not None
    assert loss.grad[[1, 3]].abs().sum().item() == 0
    # With an advantage of 0 alone, the same rows would halve the token mean.
    assert agg_loss(loss * mask, torch.ones_like(mask), "token-mean").item() == pytest.approx(
        0.5 * agg_loss(loss, mask, "token-mean").item()
    )


def ppo(mask: Any, advantages: Any, log_prob: Any, ref: Any) -> Any:
    """verl's whole actor loss with KL term, over rows of equal length."""
    from verl.workers.config import ActorConfig
    from verl.workers.utils import losses

    config = ActorConfig(
        strategy="fsdp2",
        rollout_n=1,
        ppo_mini_batch_size=len(mask),
        ppo_micro_batch_size_per_gpu=1,
        use_kl_loss=True,
        kl_loss_coef=0.1,
        kl_loss_type="low_var_kl",
    )

    class Data(dict[str, Any]):
        def select(self, *names: str) -> "Data":
            return Data({name: self[name] for name in names})

        def to_padded_tensor(self) -> "Data":
            return self

    data = Data(
        dp_size=1,
        batch_num_tokens=int(mask.sum()),
        global_batch_size=len(mask),
        response_mask=mask,
        old_log_probs=log_prob.detach(),
        advantages=advantages,
        ref_log_prob=ref,
    )
    real, losses.no_padding_2_padding = losses.no_padding_2_padding, lambda values, _: values
    try:
        return losses.ppo_loss(config, {"log_probs": log_prob}, data)[0]
    finally:
        losses.no_padding_2_padding = real


def test_masked_rows_have_no_gradient_in_verls_actor_loss_while_zero_advantages_do():
    torch.manual_seed(1)
    log_prob = -torch.rand(3, 4)
    ref = -torch.rand(3, 4)
    advantages = torch.tensor([[1.0], [-1.0], [0.0]]).expand(3, 4).contiguous()
    mask = torch.ones(3, 4, dtype=torch.int64)
    gradients = []
    for masks in (mask, mask * torch.tensor([[1], [1], [0]])):
        leaf = log_prob.clone().requires_grad_()
        ppo(masks, advantages, leaf, ref).backward()
        assert leaf.grad is not None
        gradients.append(leaf.grad)
    assert gradients[0][2].abs().sum() > 0
    assert gradients[1][2].abs().sum() == 0
    # And the others weigh by 8 tokens instead of 12.
    assert torch.allclose(gradients[1][:2], gradients[0][:2] * 12 / 8)


def test_padding_and_masked_rows_count_nowhere_in_verls_loss_by_hand():
    # Row 1: two tokens and one of padding; row 2: abstained, with figures that would show anywhere.
    mask = torch.tensor([[1, 1, 0], [0, 0, 0]])
    log_prob = torch.tensor([[-1.0, -2.0, -9.0], [-7.0, -6.0, -5.0]])
    ref = torch.tensor([[-1.5, -2.0, -1.0], [-1.0, -1.0, -1.0]])
    advantages = torch.tensor([[2.0, 2.0, 9.0], [5.0, 5.0, 5.0]])
    # On policy, so every ratio is 1: policy loss -(2 + 2) / 2 tokens.
    # KL by the low-variance estimator exp(d) - d - 1 with d = ref - log_prob: d = -0.5 gives 0.106531, d = 0 gives 0;
    # mean over 2 tokens 0.053265, times the coefficient 0.1.
    assert ppo(mask, advantages, log_prob, ref).item() == pytest.approx(-2.0 + 0.1 * 0.0532653, abs=1e-6)
    # The same with row 2 absent.
    assert ppo(mask[:1], advantages[:1], log_prob[:1], ref[:1]).item() == pytest.approx(-1.9946735, abs=1e-6)
    # Were row 2 not masked: 5 tokens, policy loss -(2 * 2 + 3 * 5) / 5, and its KL on top.
    seen = torch.tensor([[1, 1, 0], [1, 1, 1]])
    assert ppo(seen, advantages, log_prob, ref).item() != pytest.approx(-1.9946735, abs=0.1)


def test_a_batch_in_which_every_row_is_masked_has_gradient_zero():
    torch.manual_seed(2)
    layer = torch.nn.Linear(4, 4)
    log_prob = torch.log_softmax(layer(torch.ones(2, 4)), -1)
    ppo(torch.zeros(2, 4, dtype=torch.int64), torch.zeros(2, 4), log_prob, log_prob.detach() - 0.5).backward()
    assert all(torch.equal(weight.grad, torch.zeros_like(weight)) for weight in layer.parameters())


def test_metrics_of_a_step_and_of_the_newest_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    log.start_attempt(0)
    for number in range(20):
        log.append(row(1, 1, index=number), Judged(number, False, 2, 0, False, False))
    log.append(row(2, 1), Judged(999, True, 2, 2, True, True))
    log.start_attempt(1)
    for number in range(4):
        log.append(row(2, 2, index=number), Judged(100 + number, number == 3, 2, number == 3, number < 2, False))
    log.close()
    monkeypatch.setenv(verl_groups.FOLDER_ENV, str(tmp_path))
    found = verl_groups.judge_metrics(2)
    assert found["judge/abstained_samples"] == 1
    assert found["judge/abstain_rate"] == 0.25
    assert found["judge/parse_failure_rate"] == 1 / 8
    assert found["judge/reask_rate"] == 0.5
    # 25 samples by length: 20 short ones, 4 of 100 to 103, and the lost attempt's of 999.
    assert found["judge/abstain_rate/length_decile_01"] == 0
    assert found["judge/abstain_rate/length_decile_10"] == 1.0
    assert found["judge/response_tokens/length_decile_10"] == 999


def test_what_became_of_a_step_s_workflows_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ran = {"calls": 2.0, "tokens": 300.0, "seconds": 4.0}
    samples: list[tuple[float | None, dict[str, float]]] = [
        (0.9, {"valid": 1.0, "right": 1.0, **ran}),
        (-0.4, {"valid": 1.0, "right": 0.0, **ran, "calls": 4.0}),
        (-1.0, {"valid": 1.0, "right": 0.0, **ran, "calls": 6.0}),
        # No workflow; and two of which nobody knows whether they are right, or not even whether they are valid.
        (-1.0, {"valid": 0.0}),
        (None, {"valid": 1.0, **ran, "calls": 0.0}),
        (None, {}),
    ]
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    lost = row(1, log.start_attempt(0)) | {"reward": 0.9, "parts": samples[0][1]}
    log.append(lost)
    again = log.start_attempt(0)
    for number, (reward, parts) in enumerate(samples):
        log.append(row(1, again, index=number) | {"reward": reward, "parts": parts})
    log.close()
    monkeypatch.setenv(verl_groups.FOLDER_ENV, str(tmp_path))
    assert not any(name.startswith("workflow/") for name in verl_groups.judge_metrics(1))
    (tmp_path / "workflows.sqlite").touch()
    found = {name: value for name, value in verl_groups.judge_metrics(1).items() if name.startswith("workflow/")}
    expected = {"valid_rate": 4 / 5, "right_rate": 1 / 4, "calls": 12 / 4, "tokens": 300.0, "seconds": 4.0}
    assert found == pytest.approx({f"workflow/{name}": value for name, value in expected.items()})


def test_verl_keeps_the_values_of_one_step_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from verl.trainer.ppo.v1.utils import MetricsAggregator

    log = RolloutLog(tmp_path / "rollouts.sqlite")
    ran = {"valid": 1.0, "right": 0.0, "calls": 2.0, "tokens": 300.0, "seconds": 4.0}
    log.append(row(1, 1) | {"reward": -0.4, "parts": ran}, Judged(3, True, 1, 1, True, True))
    log.close()
    (tmp_path / "workflows.sqlite").touch()
    monkeypatch.setenv(verl_groups.FOLDER_ENV, str(tmp_path))
    _, _, groups = masked([0.1, 0.9, 0.5], ["a", "a", "b"], [1, 1, 1])
    ours = groups | verl_groups.judge_metrics(1)
    aggregator = MetricsAggregator()
    aggregator.add_step_metrics(ours, sample_count=3)
    assert aggregator.get_aggregated_metrics() == pytest.approx(ours)
    assert all(np.isfinite(value) for value in ours.values())
