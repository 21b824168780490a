"""verl's agent loop with a scaffold: the response is sampled after a prompt that shows a part of the rubric, and handed
to the trainer as the answer to the prompt without it.

verl finds it by its name in ``agent_loops.yaml``. The old log-probabilities are the trainer's own on the plain prompt,
unless ``training.scaffold.corrected`` keeps those of the sampling (:mod:`components.engine.overrides`).
"""

import os
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop.agent_loop import AgentLoopOutput
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop

from components.core.errors import ContractError
from components.core.spec.experiment import Experiment
from components.judge.rubrics import read_rubric
from components.reward.verl_manager_settings import SETTINGS_ENV, ManagerSettings
from components.scaffold.message import with_scaffold
from components.scaffold.plan import SHOWN, ScaffoldPlan


class ScaffoldLoop(SingleTurnAgentLoop):  # type: ignore[misc]
    """One turn. verl makes one for every sample."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        experiment = Experiment.from_json(ManagerSettings.read(Path(os.environ[SETTINGS_ENV])).experiment)
        training = experiment.training
        if training.scaffold is None:
            raise ContractError("the scaffold's loop runs without a scaffold", where="training.scaffold")
        self._plan = ScaffoldPlan(training.scaffold, training.steps, training.rollouts_per_prompt, experiment.seed)

    async def run(self, sampling_params: dict[str, Any], priority: int = 0, **kwargs: Any) -> AgentLoopOutput:
        """Sample after the scaffolded prompt; the output's prompt is the plain one."""
        info = kwargs["extra_info"]
        shown = self._plan.of(
            read_rubric(info["rubric"]),
            step=int(kwargs["global_steps"]),
            row_id=info["id"],
            index=int(kwargs["session_id"]),
        )
        plain = [dict(turn) for turn in kwargs["raw_prompt"]]
        scaffolded = {**kwargs, "raw_prompt": with_scaffold(plain, shown.message)}
        output = await super().run(sampling_params, priority=priority, **scaffolded)
        if shown.message is not None:
            output.prompt_ids = await self.ct_build_initial_tokens(plain)
        output.extra_fields[SHOWN] = {"ratio": shown.ratio, "criteria": list(shown.criteria)}
        return output
