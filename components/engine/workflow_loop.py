"""verl's agent loop for workflows: the prompt shows examples of the experience buffer.

verl finds it by its name in ``agent_loops.yaml``. The examples belong to the prompt that is trained on: the
output's prompt is the one that was sampled after, and all log-probabilities are of that.
"""

import functools
import os
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop.agent_loop import AgentLoopOutput
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop

from components.core.errors import ContractError
from components.core.spec.experiment import Experiment
from components.judge.rubrics import read_rubric
from components.judge.verdict import Sample
from components.reward.verl_manager_settings import SETTINGS_ENV, ManagerSettings
from components.reward.workflow_rewarder import asked_of
from components.workflow.experience import open_buffer
from components.workflow.shown import EXAMPLES, Shower


class WorkflowLoop(SingleTurnAgentLoop):  # type: ignore[misc]
    """One turn. verl makes one for every sample; what finds examples is one a process."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._shower, self._room = _shower(os.environ[SETTINGS_ENV])

    async def run(self, sampling_params: dict[str, Any], priority: int = 0, **kwargs: Any) -> AgentLoopOutput:
        """Sample after the prompt with examples."""
        info = kwargs["extra_info"]
        turns = [dict(turn) for turn in kwargs["raw_prompt"]]
        if not turns or turns[-1]["role"] != "user":
            raise ContractError("a prompt for workflows ends with the user's turn", where=f"row {info['id']}")

        def saying(text: str) -> list[dict[str, Any]]:
            return [*turns[:-1], {**turns[-1], "content": text}]

        async def fits(text: str) -> bool:
            return len(await self.ct_build_initial_tokens(saying(text))) <= self._room

        sample = Sample(info["id"], info["id"], info["question"], "", read_rubric(info["rubric"]))
        text, shown = await self._shower.prompt(
            turns[-1]["content"],
            asked_of(sample).problem,
            info["id"],
            step=int(kwargs["global_steps"]),
            fits=fits,
        )
        output = await super().run(sampling_params, priority=priority, **{**kwargs, "raw_prompt": saying(text)})
        output.extra_fields[EXAMPLES] = shown
        return output


@functools.cache
def _shower(settings_path: str) -> tuple[Shower, int]:
    """What finds examples, and the longest prompt in tokens."""
    settings = ManagerSettings.read(Path(settings_path))
    experiment = Experiment.from_json(settings.experiment)
    buffer = open_buffer(experiment, Path(settings.work), Path(settings.state), Path(settings.data))
    if buffer is None or experiment.workflow is None:
        raise ContractError("the loop for workflows runs without examples", where="workflow.examples")
    room = experiment.training.max_prompt_tokens + experiment.workflow.room
    return Shower(buffer, experiment.workflow.examples), room
