"""Examples in training prompts: one prompt for a group, only what earlier steps found, as many as fit; and what verl is
told of their room."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core.errors import ContractError
from components.core.spec import load_experiment
from components.core.spec.workflow_buffer import BufferSpec
from components.engine.overrides import TrainingPaths, verl_overrides
from components.workflow.buffer.buffer import ExperienceBuffer, Offered
from components.workflow.buffer.entry import Forbidden
from components.workflow.prompts.layer1 import policy_prompt
from components.workflow.reward import WorkflowReward
from components.workflow.shown import Shower
from components.workflow.types import Problem


class Letters:
    """Vectors of how often letters occur."""

    name, version = "letters", "1"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        counts = [[text.lower().count(chr(97 + place)) + 0.01 for place in range(26)] for text in texts]
        rows = np.array(counts, np.float32).reshape(len(texts), 26)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def problem(text: str) -> Problem:
    return Problem("math", "gsm8k", text, None, None)


def source(number: int) -> str:
    return f'class Workflow:\n    """Number {number}."""\n    text = "{number}"\n'


@pytest.fixture
def buffer(tmp_path: Path):
    forbidden = Forbidden.of([("test", "What is asked in the test?")])
    made = ExperienceBuffer(tmp_path, BufferSpec(), (-1.0, 1.0), forbidden, Letters())
    yield made
    made.close()


def offer(buffer: ExperienceBuffer, number: int, step: int, text: str = "") -> Offered:
    reward = WorkflowReward("scored", 0.9, {"correctness": 0.9}, True, None)
    return buffer.offer_sample(
        f"p{number}", problem(text or f"Ada has {number} apples."), source(number), reward,
        judge="gold", executor="e", step=step,
    )  # fmt: skip


async def always(_: str) -> bool:
    return True


async def test_a_group_sees_one_prompt_whatever_is_found_meanwhile(buffer: ExperienceBuffer) -> None:
    asked = problem("Bob has 7 apples.")
    plain = policy_prompt(asked)
    assert offer(buffer, 1, step=1) is Offered.KEPT
    shower = Shower(buffer, 3)
    first = await shower.prompt(plain, asked, "row", step=2, fits=always)
    # A sibling finds something in the same step, and something of an earlier step comes late.
    offer(buffer, 2, step=2)
    offer(buffer, 3, step=1)
    again = [await shower.prompt(plain, asked, "row", step=2, fits=always) for _ in range(5)]
    assert again == [first] * 5
    assert len(first[1]) == 1
    assert "Number 1." in first[0]
    # Another process, as after a resume, sees of step 2 what an unbroken run had seen, but for the late one.
    other = await Shower(buffer, 3).prompt(plain, asked, "row", step=2, fits=always)
    assert "Number 2." not in other[0]
    later = await shower.prompt(plain, asked, "row", step=3, fits=always)
    assert len(later[1]) == 3


async def test_samples_that_come_at_once_are_looked_up_once(
    buffer: ExperienceBuffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = problem("Bob has 7 apples.")
    offer(buffer, 1, step=1)
    looked, similar = [], buffer.similar

    def counted(*args: Any, **kwargs: Any) -> Any:
        looked.append(kwargs["step"])
        return similar(*args, **kwargs)

    async def slowly(_: str) -> bool:
        await asyncio.sleep(0)
        return True

    monkeypatch.setattr(buffer, "similar", counted)
    shower = Shower(buffer, 3)
    group = [shower.prompt(policy_prompt(asked), asked, "row", step=2, fits=slowly) for _ in range(6)]
    made = await asyncio.gather(*group, shower.prompt(policy_prompt(asked), asked, "row", step=3, fits=slowly))
    assert sorted(looked) == [2, 3]
    assert len({text for text, _ in made[:6]}) == 1
    assert "Number 1." in made[0][0]


async def test_the_first_step_shows_the_prompt_as_it_was_made(buffer: ExperienceBuffer) -> None:
    asked = problem("Bob has 7 apples.")
    offer(buffer, 1, step=1)
    assert await Shower(buffer, 3).prompt(policy_prompt(asked), asked, "row", step=1, fits=always) == (
        policy_prompt(asked),
        [],
    )


async def test_neither_the_problem_itself_nor_one_of_the_test_is_shown(buffer: ExperienceBuffer) -> None:
    asked = problem("Bob has 7 apples.")
    assert offer(buffer, 1, step=1, text=asked.text) is Offered.KEPT
    assert offer(buffer, 2, step=1, text="What is asked in the TEST?") is Offered.TEST_PROBLEM
    _, shown = await Shower(buffer, 3).prompt(policy_prompt(asked), asked, "row", step=5, fits=always)
    assert shown == []


@pytest.mark.parametrize("room", [0, 1, 2, 3])
async def test_what_does_not_fit_is_left_out(buffer: ExperienceBuffer, room: int) -> None:
    asked = problem("Bob has 7 apples.")
    for number in range(3):
        offer(buffer, number, step=1)

    async def fits(text: str) -> bool:
        return text.count("Number ") <= room

    text, shown = await Shower(buffer, 3).prompt(policy_prompt(asked), asked, "row", step=2, fits=fits)
    assert len(shown) == text.count("Number ") == room


async def test_a_prompt_without_a_place_is_refused(buffer: ExperienceBuffer) -> None:
    asked = problem("Bob has 7 apples.")
    offer(buffer, 1, step=1)
    with pytest.raises(ContractError, match="no place for examples"):
        await Shower(buffer, 3).prompt("Write a workflow.", asked, "row", step=2, fits=always)


PATHS = TrainingPaths(Path("/m"), Path("/d/train.parquet"), Path("/c"))


def test_verl_has_room_for_the_examples_and_keeps_one_prompt() -> None:
    experiment = load_experiment("workflow_small")
    rendered = verl_overrides(experiment, PATHS)
    assert "actor_rollout_ref.rollout.prompt_length=2816" in rendered
    assert "data.max_prompt_length=2048" in rendered
    assert "actor_rollout_ref.rollout.max_model_len=3008" in rendered
    assert "actor_rollout_ref.rollout.agent.default_agent_loop=gavel_workflow" in rendered
    # On the CPU the log-probabilities of the sampling are the old ones, as without examples.
    assert "algorithm.rollout_correction.bypass_mode=True" in rendered
    without = verl_overrides(load_experiment("workflow_small", ["workflow.examples=0"]), PATHS)
    assert not any("agent_loop" in each for each in without)


def test_the_original_values_reach_verl() -> None:
    rendered = verl_overrides(load_experiment("workflow_rl"), PATHS)
    for wanted in (
        "actor_rollout_ref.rollout.temperature=0.3",
        "actor_rollout_ref.model.lora_rank=64",
        "actor_rollout_ref.model.lora_alpha=64",
        "actor_rollout_ref.actor.optim.lr=5e-06",
        "actor_rollout_ref.rollout.n=6",
        "trainer.total_training_steps=500",
    ):
        assert wanted in rendered
