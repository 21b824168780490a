"""Groups of rollouts, counted by hand."""

from components.report.tasks.rollouts import Rollout, count


def rollout(step: int, row_id: str, reward: float | None, *, finished: bool = True) -> Rollout:
    return Rollout(step, row_id, f"{step}{row_id}{reward}", "gsm8k", "math", reward, None, 10, finished)


def test_only_groups_with_known_rewards_that_differ_train_anything() -> None:
    rollouts = [
        *(rollout(1, "a", reward) for reward in (0.0, 1.0, 0.0)),
        *(rollout(1, "b", reward) for reward in (1.0, 1.0, None)),
        *(rollout(1, "c", reward) for reward in (0.5, None, None)),
        # The same prompt at another step is another group.
        *(rollout(2, "a", reward) for reward in (0.25, 0.5, 0.25)),
    ]
    found = count(rollouts)
    assert (found.groups, found.varied, found.flat, found.masked) == (4, 2, 1, 1)
    assert found.share == 0.5
    assert (found.rollouts, found.abstained) == (12, 3)
    assert found.reward == (1.0 + 2.0 + 0.5 + 1.0) / 9


def test_a_group_without_a_reward_has_no_mean() -> None:
    found = count([rollout(1, "a", None, finished=False)])
    assert (found.reward, found.masked, found.cut) == (None, 1, 1)
