"""The one adapter between verl and the reward: a verl reward manager that judges each sample as it is sampled.

verl finds it through ``reward.reward_manager.source=importlib``; settings come in a JSON file that the environment
names, since verl hands nothing of its own to a manager but the trainer's configuration.
"""

import collections
import os
import time
from pathlib import Path
from typing import Any

from verl import DataProto
from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from components.core.errors import GavelError, JudgeError
from components.core.spec.experiment import Experiment
from components.judge.rubrics import read_rubric
from components.judge.verdict import Sample
from components.reward.abstain_guard import WINDOW, AbstainGuard
from components.reward.asked import CountingLedger
from components.reward.canaries.judging import build_canaries
from components.reward.judge_rates import Judged
from components.reward.rewarder import Draw, Rewarder, build_rewarder
from components.reward.rollout_log import RolloutLog
from components.reward.shortfall import newest_words, over_budget
from components.reward.verl_manager_settings import SETTINGS_ENV, ManagerSettings
from components.reward.workflow_rewarder import EXECUTED, WorkflowRewarder, build_workflow_rewarder
from components.scaffold.plan import SHOWN
from components.workflow.experience import open_buffer
from components.workflow.shown import EXAMPLES


class AbstainedError(Exception):
    """Raised to verl for a sample that could not be judged, so that it is left out instead of scored."""


class GavelRewardManager(RewardManagerBase):  # type: ignore[misc]
    """Rewards one response by its row's rubric."""

    def __init__(self, config: Any, tokenizer: Any, compute_score: Any, **_: Any) -> None:
        super().__init__(config, tokenizer, compute_score)
        settings = ManagerSettings.read(Path(os.environ[SETTINGS_ENV]))
        work = Path(settings.work)
        self._experiment = Experiment.from_json(settings.experiment)
        self._attempt = settings.attempt
        self._drawn: collections.Counter[str] = collections.Counter()
        self._log = RolloutLog(work / "rollouts.sqlite")
        reward, training = self._experiment.reward, self._experiment.training
        self._ledger = CountingLedger(work / "ledger.sqlite")
        self._guard = AbstainGuard(
            # Where failures count as 0, nobody stops for them: that is what the arm is to show.
            1.0 if reward.fails_to_zero else reward.max_abstain_rate,
            work / "fatal.json",
            judge=self._experiment.verdict_name,
            executor=None if self._experiment.workflow is None else self._experiment.workflow.executor.name,
            pause_seconds=60 * reward.pause_minutes,
            words=lambda: newest_words(self._ledger),
            unpaid=lambda: over_budget(self._experiment, self._ledger, "training resumes from its last checkpoint"),
            # Empty responses are the shortest, and so the first of a step to come.
            most_empty=max(WINDOW, 2 * training.prompts_per_step * training.rollouts_per_prompt),
        )
        self._rewarder = self._build(Path(settings.state), work, Path(settings.data))
        self._canaries = build_canaries(self._experiment, self._rewarder, work / "rollouts.sqlite", self._attempt)

    def _build(self, state: Path, work: Path, data: Path) -> Rewarder | WorkflowRewarder:
        if self._experiment.workflow is None:
            return build_rewarder(self._experiment, state, self._ledger, training=True)
        buffer = open_buffer(self._experiment, work, state, data)
        return build_workflow_rewarder(self._experiment, state, self._ledger, work=work, buffer=buffer)

    async def run_single(self, data: DataProto) -> dict[str, Any]:
        """Judge the batch's last row; see :meth:`_judge_last`.

        verl takes any exception for one lost sample and goes on. Only an abstention is one; whatever else goes wrong
        (a full disk, a broken row) would lose samples unseen, and stops the run.
        """
        try:
            return await self._judge_last(data)
        except AbstainedError:
            raise
        except GavelError as error:
            await self._guard.halt(JudgeError(error.what, where=error.where, remedy=error.remedy))
            raise
        except Exception as error:
            what = f"judging a sample failed: {type(error).__name__}: {error}"
            await self._guard.halt(JudgeError(what, where="reward manager", remedy="see the log"))
            raise

    async def _judge_last(self, data: DataProto) -> dict[str, Any]:
        """Judge the batch's last row.

        Returns:
            ``reward_score`` and ``reward_extra_info`` as verl expects them.

        Raises:
            AbstainedError: the judge could not decide; verl drops the sample and keeps its siblings. Never where
                ``reward.failures`` is zero_as_control.
            JudgeError: too many samples could not be judged, and a pause did not help; the trainer is to be stopped.
        """
        item = data[-1:][0]
        started = time.monotonic()
        sample, tokens, finished = self._sample(item)
        step, index = int(item.non_tensor_batch["global_steps"]), int(item.non_tensor_batch["session_id"])
        draw = Draw(self._experiment.seed, step, index)
        judgement = await self._guard.judged(lambda: self._rewarder.reward(sample, draw))
        reward = judgement.reward
        self._log.append(
            {
                "step": step,
                "row_id": sample.row_id,
                "sample_id": sample.sample_id,
                "sample_index": index,
                "question": sample.question,
                "response": sample.response,
                "response_tokens": tokens,
                "finished": finished,
                "status": reward.status,
                "reward": reward.value,
                "reason": reward.reason,
                "known_weight": reward.known_weight,
                "parts": dict(reward.parts) | _prompted(item),
                "attempt": self._attempt,
            },
            Judged.of(
                tokens,
                abstained=judgement.abstained,
                # Of the judge and of rules alone: an executor model gives none.
                verdicts=[verdict for verdict in judgement.verdicts if verdict.protocol != EXECUTED],
                asked=self._ledger.take(sample.sample_id),
            ),
        )
        seconds = time.monotonic() - started
        await self._judge_canaries(sample, step, index)
        value = reward.value
        if value is None and self._experiment.reward.fails_to_zero:
            # The one place where a failure becomes a number, in a control arm that is there to show what it does. The
            # log above keeps the sample as abstained.
            value = 0.0
        if value is None:
            why = ", ".join(sorted(set(judgement.reasons)))
            raise AbstainedError(f"step {step}, row {sample.row_id}: {reward.reason} ({why})")
        return {
            "reward_score": value,
            "reward_extra_info": {
                "known_weight": reward.known_weight,
                "judge_seconds": seconds,
                "response_tokens": tokens,
            },
        }

    async def _judge_canaries(self, sample: Sample, step: int, index: int) -> None:
        """Those that stand under this sample's prompt. Nothing of them reaches verl, or the counts of its samples."""
        if self._canaries is not None:
            for sighting in await self._canaries.beside(sample, step, index):
                self._ledger.take(sighting.sample_id)

    def _sample(self, item: Any) -> tuple[Sample, int, bool]:
        """The sample as the judge sees it, its length in tokens, and whether the policy ended it."""
        responses = item.batch["responses"]
        width = responses.shape[-1]
        tokens = int(item.batch["attention_mask"][-width:].sum())
        ids = responses[:tokens].tolist()
        info = item.non_tensor_batch["extra_info"]
        step, index = int(item.non_tensor_batch["global_steps"]), int(item.non_tensor_batch["session_id"])
        criteria = read_rubric(info["rubric"])
        if not criteria:
            raise JudgeError("a row without criteria cannot be judged", where=f"row {info['id']}")
        sample_id = f"{step}-{self._attempt}-{info['id']}-{index}"
        # Where refilled groups carry a step into the data's next round, a prompt can be drawn twice in it.
        self._drawn[sample_id] += 1
        if self._drawn[sample_id] > 1:
            sample_id += f"-{self._drawn[sample_id]}"
        sample = Sample(
            row_id=info["id"],
            sample_id=sample_id,
            question=info["question"],
            response=self.tokenizer.decode(ids, skip_special_tokens=True),
            criteria=criteria,
        )
        return sample, tokens, bool(ids) and ids[-1] == self.tokenizer.eos_token_id


def _prompted(item: Any) -> dict[str, float]:
    """What our agent loop put into the prompt, beside the reward's parts: how much of the rubric, or how many workflows
    of the buffer. Nothing in a run whose prompts are plain."""
    told = item.non_tensor_batch.get("tool_extra_fields") or {}
    found: dict[str, float] = {}
    if (scaffold := told.get(SHOWN)) is not None:
        found |= {"scaffold_ratio": float(scaffold["ratio"]), "scaffold_shown": float(len(scaffold["criteria"]))}
    if (examples := told.get(EXAMPLES)) is not None:
        found["examples"] = float(len(examples))
    return found
