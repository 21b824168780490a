"""Puts the forms of an item to a judge and says what it made of them, in each of the three modes.

Calls go through the judge engine's own transport, limits, cache and ledger. A call that gave nothing stays unknown with
its reason; it never becomes a number.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.bias.marks import FOLDER, Marks
from components.bias.together import together
from components.bias.types import Form, Item, Mode, Outcome, Role
from components.judge.base import Judge
from components.judge.build import build_chat, completions_judge
from components.judge.chat import Chat
from components.judge.chat_judge import ChatJudge
from components.judge.completions import CompletionsJudge
from components.judge.failures import Failure
from components.judge.memory import Ledger, about
from components.judge.protocols import pairwise
from components.judge.protocols.base import Sampling
from components.judge.protocols.chat_template import load_chat
from components.judge.protocols.choose import chat_protocol
from components.judge.verdict import Criterion, Sample, UnknownReason, Verdict, VerdictStatus

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

NOT_RUBRICS: Final = frozenset({"pairwise", "semantic_equality"})
"""Reward protocols whose criteria are responses; in binary mode such a judge is asked by the protocol ``rubric``."""
_FIRST: Final = {"first": 1.0, "tie": 0.5, "second": 0.0}
_OVERALL: Final = (FOLDER / "overall_criterion.txt").read_text(encoding="utf-8").strip()
_REFERENCE: Final = (FOLDER / "question_with_reference.txt").read_text(encoding="utf-8").strip()


class Asking:
    """One judge under one reward's protocol. For one event loop; close it.

    Args:
        spec: the judge.
        reward: how the judge is asked where it trains. ``likelihood_ratio`` decides binary and pointwise; every other
            protocol decides binary mode alone.
        endpoint: base URL without ``/v1``.
        ledger: gets a row a call; the caller closes it.
        state: folder of kept replies and shared permits; None keeps and shares none.
        identity: what decides the judge's replies, as text, for the kept replies.

    Raises:
        JudgeError: the key's variable is not set, or the judge lacks what the protocol needs.
    """

    def __init__(
        self,
        spec: "JudgeSpec",
        reward: "RewardSpec",
        endpoint: str,
        ledger: Ledger | None = None,
        *,
        state: Path | None = None,
        identity: str = "",
    ) -> None:
        self.name = spec.name
        self._spec = spec
        self._ledger = ledger
        self._reward = binary_reward(reward)
        self._ratio: CompletionsJudge | None = None
        self._chat: Chat | None = None
        if self._reward.protocol == "likelihood_ratio":
            self._ratio = completions_judge(
                spec, self._reward, endpoint, ledger, state=state, identity=identity, cached=True
            )
        else:
            self._chat = build_chat(spec, endpoint, ledger, state=state, identity=identity)
            sampling = Sampling(spec.max_answer_tokens, spec.temperature)
            self._marks = Marks(sampling)
            self._pairs = pairwise.Pairwise(load_chat(pairwise.NAME, pairwise.FIELDS), sampling)
            self._protocol = chat_protocol(self._reward, spec)

    @staticmethod
    def lacks(reward: "RewardSpec", mode: Mode) -> str | None:
        """Why a judge under this reward cannot be asked in the mode; None where it can."""
        if reward.protocol == "likelihood_ratio" and mode is Mode.PAIRWISE:
            return "a judge that is asked by likelihood ratio compares no two responses"
        return None

    async def outcomes(self, item: Item, mode: Mode, repeat: int = 0) -> list[Outcome]:
        """What the judge made of the item: a pairwise one of each form but the base, in both orders; else one of each
        form.

        Raises:
            JudgeError: a sample that no judge can be asked about, or the ledger cannot be written.
        """
        # Together: what they have in common is then still in the memory of the judge's server.
        if mode is Mode.PAIRWISE:
            pairs = (self._pair(item, role, repeat) for role in item.forms if role is not Role.BASE)
            return [found for pair in await together(*pairs) for found in pair]
        one = self._mark if mode is Mode.POINTWISE else self._rubric
        return await together(*(one(item, role, repeat) for role in item.forms))

    async def close(self) -> None:
        """Release the connections. The ledger belongs to the caller."""
        if self._chat is not None:
            await self._chat.close()
        if self._ratio is not None:
            await self._ratio.close()

    async def _pair(self, item: Item, role: Role, repeat: int) -> list[Outcome]:
        form, base = item.forms[role], item.forms[Role.BASE]
        orders = ("base_second", "base_first")
        if _blank(form) or _blank(base):
            # As the engine does with a blank response: nothing is asked.
            return [self._unknown(item, Mode.PAIRWISE, role, repeat, UnknownReason.EMPTY_RESPONSE, o) for o in orders]
        chat = self._needs_chat()
        ask = chat.asker(self._pairs.version, _draw(repeat))
        with about(_sample(item, role, Mode.PAIRWISE, repeat, form.criteria)):
            choice = await self._pairs.prefer(shown_question(form), form.response, base.response, ask)
        found = []
        for order, chosen in zip(orders, (choice.a_first, choice.b_first), strict=True):
            if isinstance(chosen, Failure):
                found.append(self._unknown(item, Mode.PAIRWISE, role, repeat, chosen.reason, order))
                continue
            share = _FIRST[chosen]
            value = share if order == "base_second" else 1.0 - share
            found.append(self._outcome(item, Mode.PAIRWISE, role, repeat, value, order=order))
        return found

    async def _mark(self, item: Item, role: Role, repeat: int) -> Outcome:
        form = item.forms[role]
        if self._ratio is not None:
            return await self._verdicts(item, role, repeat, Mode.POINTWISE, (_OVERALL,))
        if _blank(form):
            return self._unknown(item, Mode.POINTWISE, role, repeat, UnknownReason.EMPTY_RESPONSE)
        ask = self._needs_chat().asker(self._marks.version, _draw(repeat))
        with about(_sample(item, role, Mode.POINTWISE, repeat, form.criteria)):
            place = await self._marks.mark(form, shown_question(form), ask)
        if isinstance(place, Failure):
            return self._unknown(item, Mode.POINTWISE, role, repeat, place.reason)
        return self._outcome(item, Mode.POINTWISE, role, repeat, place / (len(form.scale) - 1))

    async def _rubric(self, item: Item, role: Role, repeat: int) -> Outcome:
        return await self._verdicts(item, role, repeat, Mode.BINARY, item.forms[role].criteria)

    async def _verdicts(self, item: Item, role: Role, repeat: int, mode: Mode, criteria: Sequence[str]) -> Outcome:
        """The value is the mean probability where the protocol gives one for each criterion, else the share met."""
        sample = _sample(item, role, mode, repeat, criteria)
        verdicts = await self._judge(repeat).judge(sample)
        unknown = next((each for each in verdicts if each.reason is not None), None)
        if unknown is not None and unknown.reason is not None:
            return self._unknown(item, mode, role, repeat, unknown.reason)
        probability = _mean_probability(verdicts)
        met = sum(each.status is VerdictStatus.MET for each in verdicts) / len(verdicts)
        return self._outcome(item, mode, role, repeat, met if probability is None else probability, probability)

    def _judge(self, repeat: int) -> Judge:
        if self._ratio is not None:
            return self._ratio.drawn(_draw(repeat)) if repeat else self._ratio
        chat = self._needs_chat()
        ask = chat.asker(self._protocol.version, _draw(repeat))
        deadline = self._spec.limits.sample_deadline_seconds
        return ChatJudge(self.name, self._protocol, ask, ledger=self._ledger, deadline=deadline, lengths=chat.lengths)

    def _needs_chat(self) -> Chat:
        if self._chat is None:
            raise ValueError("a judge that is asked by likelihood ratio holds no conversation; see Asking.lacks")
        return self._chat

    def _unknown(
        self, item: Item, mode: Mode, role: Role, repeat: int, reason: UnknownReason, order: str | None = None
    ) -> Outcome:
        return self._outcome(item, mode, role, repeat, None, reason=reason.value, order=order)

    def _outcome(
        self,
        item: Item,
        mode: Mode,
        role: Role,
        repeat: int,
        value: float | None,
        probability: float | None = None,
        *,
        reason: str | None = None,
        order: str | None = None,
    ) -> Outcome:
        return Outcome(
            self.name,
            item.probe,
            mode,
            item.item_id,
            item.text_id,
            role,
            order,
            repeat,
            value,
            reason,
            probability,
            len(item.forms[role].response.split()),
            item.author,
            item.gold,
        )


def shown_question(form: Form) -> str:
    """The request as the judge reads it: with the reference where the form shows one."""
    if form.reference is None:
        return form.question
    values: Mapping[str, str] = {"{question}": form.question, "{reference}": form.reference}
    head, tail = _REFERENCE.split("{reference}")
    return head.replace("{question}", values["{question}"]) + values["{reference}"] + tail


def binary_reward(reward: "RewardSpec") -> "RewardSpec":
    """The reward's protocol as probes use it. A likelihood ratio is taken under prompts that show the question, because
    those of training are about single sentences; protocols whose criteria are responses give way to the rubric."""
    from components.core.spec.reward import RewardPrompts, RewardSpec

    if reward.protocol == "likelihood_ratio":
        prompts = RewardPrompts(conditioned="answer_conditioned", unconditioned="answer_unconditioned")
        return reward.model_copy(update={"prompts": prompts})
    if reward.protocol in NOT_RUBRICS:
        return RewardSpec(name=reward.name, protocol="rubric")
    return reward


def _sample(item: Item, role: Role, mode: Mode, repeat: int, criteria: Sequence[str]) -> Sample:
    form = item.forms[role]
    name = f"{item.probe}/{item.item_id}"
    return Sample(
        row_id=name,
        sample_id=f"{name}/{role.value}/{mode.value}/{repeat}",
        question=shown_question(form),
        response=form.response,
        criteria=tuple(Criterion(text) for text in criteria),
    )


def _mean_probability(verdicts: Sequence[Verdict]) -> float | None:
    known = [each.probability for each in verdicts if each.probability is not None]
    return sum(known) / len(known) if len(known) == len(verdicts) else None


def _blank(form: Form) -> bool:
    return not form.response.strip()


def _draw(repeat: int) -> str:
    """Identity of a repetition, so that its reply is not taken from the first asking's."""
    return "" if repeat == 0 else f"repeat {repeat}"
