"""One object from a response to its reward, for training and scoring alike: judge and rules are asked, their verdicts
merged in the rubric's order and combined as the experiment says."""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from components.core.errors import ContractError
from components.judge.base import Judge
from components.judge.memory import Ledger
from components.judge.panel.build import build_deciding_judge
from components.judge.verdict import Sample, Verdict
from components.reward import control
from components.reward.judgement import Judgement
from components.reward.rubric import Reward, rubric_reward
from components.reward.verif import check_no_penalty, verif_reward

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.reward import RewardSpec


@dataclasses.dataclass(frozen=True, slots=True)
class Draw:
    """Which sample of the trainer a response is; the attempt is no part of it.

    Attributes:
        seed: of the experiment.
        step: of the trainer.
        index: of the sample among those of its prompt.
    """

    seed: int
    step: int
    index: int


class Rules(Protocol):
    """What checks the lines that name a rule."""

    async def check(self, sample: Sample) -> list[Verdict | None]:
        """One verdict a line of the rubric; None for those that a judge decides."""
        ...

    async def close(self) -> None:
        """End what it started."""
        ...


def reward_of(spec: "RewardSpec", sample: Sample, verdicts: Sequence[Verdict]) -> Reward:
    """The reward of a wholly judged sample by ``spec.combine``; that of a control arm by the rubric, for comparison.

    Args:
        spec: how verdicts are combined.
        sample: with the whole rubric.
        verdicts: one a line, in order.

    Raises:
        ContractError: the rubric defines no such reward.
    """
    where = f"row {sample.row_id}"
    if spec.combine != "verif":
        return rubric_reward(sample.criteria, verdicts, spec.value, spec.min_known_weight, clip=spec.clip, where=where)
    check_no_penalty(sample.criteria, where)
    pairs = list(zip(sample.criteria, verdicts, strict=True))
    judged = [(criterion, verdict) for criterion, verdict in pairs if criterion.verifier == "llm"]
    return verif_reward(
        # A check of 0 points is recorded and counts for nothing.
        [verdict for criterion, verdict in pairs if criterion.verifier == "rule" and criterion.points],
        [criterion for criterion, _ in judged],
        [verdict for _, verdict in judged],
        spec.value,
        spec.min_known_weight,
        where=where,
    )


class Rewarder:
    """Judges a response and gives its reward.

    Args:
        spec: how verdicts become a reward.
        judge: decides the lines of verifier llm; None where no judge is asked, as in the training of a control arm.
        rules: makes what checks the lines of verifier rule; called at the first such line, if there ever is one.
            Both are closed with the rewarder.
    """

    def __init__(self, spec: "RewardSpec", judge: Judge | None, rules: Callable[[], Rules]) -> None:
        self._spec = spec
        self._judge = judge
        self._make_rules = rules
        self._rules: Rules | None = None

    async def reward(self, sample: Sample, draw: Draw | None = None) -> Judgement:
        """The reward with the verdicts that made it: one a line of the rubric, in order; of a control arm in training
        those of the rules that it asked alone.

        A judge is asked only where a line is left to it. Judge and rules are asked at the same time.

        Args:
            sample: with the whole rubric.
            draw: which sample of the trainer it is; needed by combine random in training.

        Raises:
            ContractError: the row's rubric defines no reward of this kind.
            ServiceError: rules cannot be run on this machine.
            JudgeError: the judge cannot be asked about this row, or the ledger cannot be written.
        """
        if self._judge is None:
            return await self._control(sample, draw)
        verdicts = await self._verdicts(sample, self._judge)
        return Judgement(reward_of(self._spec, sample, verdicts), verdicts)

    async def close(self) -> None:
        """Release judge and rules. The ledger belongs to the caller."""
        await asyncio.gather(*(each.close() for each in (self._rules, self._judge) if each is not None))

    async def _verdicts(self, sample: Sample, judge: Judge) -> list[Verdict]:
        lines = [place for place, criterion in enumerate(sample.criteria) if criterion.verifier == "llm"]

        async def ask() -> list[Verdict]:
            return await judge.judge(sample.part(lines)) if lines else []

        async def check() -> list[Verdict | None]:
            return await self._check(sample) if len(lines) < len(sample.criteria) else [None] * len(sample.criteria)

        judged, checked = await asyncio.gather(ask(), check())
        merged = dict(zip(lines, judged, strict=True))
        merged |= {place: verdict for place, verdict in enumerate(checked) if verdict is not None}
        return [merged[place] for place in range(len(sample.criteria))]

    async def _check(self, sample: Sample) -> list[Verdict | None]:
        if self._rules is None:
            self._rules = self._make_rules()
        checked = await self._rules.check(sample)
        for criterion, verdict in zip(sample.criteria, checked, strict=True):
            if (criterion.verifier == "rule") != (verdict is not None):
                raise ContractError(f"line {criterion.text!r} has been checked by nobody, or twice", where="rules")
        return checked

    async def _control(self, sample: Sample, draw: Draw | None) -> Judgement:
        spec = self._spec
        if spec.combine == "length":
            return Judgement(control.length(sample.response, spec.length_target), [])
        if spec.combine == "format":
            return Judgement(control.format_only(sample.response), [])
        if spec.combine == "random":
            if draw is None:
                raise ValueError("combine random needs to know which sample it is")
            return Judgement(control.uniform(draw.seed, sample.row_id, draw.step, draw.index), [])
        where = f"row {sample.row_id}"
        lines = [criterion for criterion in sample.criteria if criterion.verifier == "rule"]
        control.check_rule_lines(lines, where)
        verdicts = [verdict for verdict in await self._check(sample) if verdict is not None]
        reward = control.rule_only(lines, verdicts, spec.min_known_weight, clip=spec.clip, where=where)
        return Judgement(reward, verdicts)


def build_rewarder(
    experiment: "Experiment", state: Path, ledger: Ledger | None, *, earlier: Sequence[Path] = (), training: bool
) -> Rewarder:
    """The rewarder of an experiment.

    Args:
        experiment: with judge or panel, and the reward.
        state: the state folder, where judges' endpoints are written down.
        ledger: gets every verdict and call; the caller closes it.
        earlier: tables of calls that earlier steps of the run published; they count for the judges' budgets.
        training: whether samples of the trainer are rewarded. A control arm then asks no judge, and none needs to be
            deployed or to have a key; elsewhere its responses are judged as those of any other arm.

    Raises:
        JudgeError: a judge is not deployed, its key is missing, or it lacks what the protocol needs.
    """
    asks = experiment.reward.asks_in_training or not training
    judge = build_deciding_judge(experiment, state, ledger, earlier=earlier) if asks else None

    def rules() -> Rules:
        # It brings a computer algebra along, which rows without rules do not wait for.
        from components.rules.checker import RuleChecker

        return RuleChecker(ledger)

    return Rewarder(experiment.reward, judge, rules)
