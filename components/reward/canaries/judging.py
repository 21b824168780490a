"""Canaries in a training: a few master keys a step, under prompts of its batch, through the reward that trains it.

They are judged after the response whose prompt they stand under, so that in a pause of the judge they wait with it, and
they pass by the guard of abstentions: a canary that could not be judged says nothing of the policy's responses.
"""

import collections
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from components.judge.canary import PREFIX
from components.judge.verdict import Sample
from components.reward.canaries.keys import keys_of_step
from components.reward.canaries.log import CanaryLog
from components.reward.canaries.sighting import Sighting
from components.reward.judgement import Judgement

if TYPE_CHECKING:
    from components.core.spec import Experiment


class Rewards(Protocol):
    """What judges a sample: :class:`components.reward.rewarder.Rewarder`."""

    async def reward(self, sample: Sample) -> Judgement:
        """The sample's reward and verdicts."""
        ...


class Canaries:
    """Sends a step's canaries.

    Args:
        rewards: what judges the policy's responses.
        log: gets every sighting.
        attempt: number of the start of the trainer.
        per_step: canaries of a step.
        per_prompt: canaries under one prompt at most.
        threshold: the largest reward that is no alarm.
        say: prints a line.
    """

    def __init__(
        self,
        rewards: Rewards,
        log: CanaryLog,
        *,
        attempt: int,
        per_step: int,
        per_prompt: int,
        threshold: float,
        say: Callable[[str], None] = lambda line: print(line, flush=True),
    ) -> None:
        self._rewards, self._log, self._attempt = rewards, log, attempt
        self._per_step, self._per_prompt, self._threshold = per_step, per_prompt, threshold
        self._say = say
        self._sent: collections.Counter[int] = collections.Counter()

    async def beside(self, sample: Sample, step: int, index: int) -> list[Sighting]:
        """Judge canaries under the prompt of a response, where it is that prompt's first and the step has too few yet.

        A prompt without a line that a judge decides and that gives points is passed over. The lines that rules decide
        are left out: a rule that a text without content truly keeps is no fault of the judge.

        Args:
            sample: the response; it has been judged.
            step: of the trainer.
            index: of the response among those of its prompt.

        Raises:
            JudgeError: the judge cannot be asked about this row, or the ledger cannot be written; never for a failure
                to judge, which makes a canary unknown.
        """
        lines = [place for place, criterion in enumerate(sample.criteria) if criterion.verifier == "llm"]
        if index or not any(sample.criteria[place].points > 0 for place in lines):
            return []
        # Taken before anything is awaited: many responses are judged at once.
        begin = self._sent[step]
        self._sent[step] = min(self._per_step, begin + self._per_prompt)
        keys = keys_of_step(step, self._per_step)[begin : self._sent[step]]
        under = sample.part(lines)
        return [await self._judge(under, key, step, place) for place, key in enumerate(keys, begin)]

    async def _judge(self, under: Sample, key: str, step: int, place: int) -> Sighting:
        name = f"{PREFIX}{step}-{self._attempt}-{place}"
        canary = dataclasses.replace(under, sample_id=name, response=key)
        judgement = await self._rewards.reward(canary)
        found = Sighting.of(step, self._attempt, canary, self._threshold, judgement)
        self._log.append(found)
        if found.rewarded:
            self._say(f"[canary] step {step}: {key!r} earned {found.reward:.3g} under row {under.row_id}")
        return found


def build_canaries(experiment: "Experiment", rewards: Rewards, path: Path, attempt: int) -> Canaries | None:
    """The canaries of an experiment; None where it has none.

    Args:
        experiment: whose training it is.
        rewards: what judges the policy's responses.
        path: the database of rollouts.
        attempt: number of the start of the trainer.
    """
    spec, training = experiment.training.canaries, experiment.training
    if spec is None:
        return None
    return Canaries(
        rewards,
        CanaryLog(path),
        attempt=attempt,
        per_step=spec.per_step,
        per_prompt=-(-spec.per_step // training.prompts_per_step),
        threshold=spec.threshold(experiment.reward),
    )
