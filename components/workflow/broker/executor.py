"""The model that operators ask, reached as judges are: with their cache, limits, budget of the run and ledger."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from components.judge.build import build_chat, build_price
from components.judge.calls import Answer, Call, Message, Usage
from components.judge.chat import Chat
from components.judge.chat_reply import read_usage
from components.judge.failures import Failure
from components.judge.memory import Ledger
from components.judge.verdict import UnknownReason
from components.tasks.answers import without_reasoning
from components.workflow.broker.programs import Programs
from components.workflow.errors import AbstainError, OperatorError, OperatorReason
from components.workflow.types import Cost

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_WORKFLOWS_OWN: Final = {
    UnknownReason.TOO_LONG: (OperatorReason.TOO_LONG, "the prompt does not fit the model; pass less text"),
    UnknownReason.EMPTY_REPLY: (OperatorReason.EMPTY_REPLY, "the model's reply is empty"),
    UnknownReason.TRUNCATED: (OperatorReason.TRUNCATED, "the model reached its limit before the first word"),
}
"""Failures of a model that is up and has done what it was asked. All others are no workflow's doing."""

_BYTES_PER_TOKEN: Final = 4
_LONGEST_TOKEN: Final = 512
"""Characters; tokenizers have a few of some hundred, of spaces or signs. A server that sends more by the token does not
keep to what it is asked, which is no workflow's doing."""
_THOUGHT: Final = "<think>"


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """What came of one question.

    Attributes:
        outcome: the reply without its reasoning, or why there is none.
        cost: of it, as if nothing were kept.
    """

    outcome: str | OperatorError | AbstainError
    cost: Cost


class ExecutorModel:
    """The executor model, and the sandboxes beside it; shared by all executions of a run. For one event loop.

    Args:
        chat: calls to the model; closed with this.
        programs: runs code; closed with this.
        sampling: identity of the draws beyond the calls themselves, such as a seed; equal ones have equal replies from
            the cache.

    Attributes:
        name: of the model, for prompts that are made for it.
        priced: whether its tokens cost money.
        programs: see above.
    """

    def __init__(self, chat: Chat, programs: Programs, *, sampling: str = "") -> None:
        self.name = chat.spec.name
        self.programs = programs
        self._chat = chat
        self._sampling = sampling
        self._price = build_price(chat.spec)

    @property
    def priced(self) -> bool:
        """Whether its tokens cost money."""
        return self._price is not None

    async def ask(self, prompt: str, *, protocol: str, draw: int) -> Said:
        """Put one question.

        Args:
            prompt: one user turn.
            protocol: version of the operator that asks.
            draw: 0 for the first time that an execution puts this question, 1 for the second, and so on.

        Raises:
            JudgeError: the ledger cannot be written.
        """
        spec = self._chat.spec
        call = Call(
            (Message("user", prompt),), spec.max_answer_tokens, spec.temperature, purpose="ask" if not draw else "again"
        )
        got = await self._chat.asker(protocol, f"{self._sampling}/{draw}")(call)
        if isinstance(got, Answer):
            if len(got.text) > _LONGEST_TOKEN * spec.max_answer_tokens:
                what = f"a reply of {len(got.text)} characters, where {spec.max_answer_tokens} tokens were asked for"
                return Said(AbstainError(UnknownReason.UNPARSEABLE.value, what), self._nothing())
            return Said(_spoken(got), self._cost(prompt, got.text, got.usage, got.served))
        if got.reason not in _WORKFLOWS_OWN:
            return Said(AbstainError(got.reason.value, got.detail), self._nothing())
        reason, what = _WORKFLOWS_OWN[got.reason]
        asked = reason is not OperatorReason.TOO_LONG
        cost = self._cost(prompt, "", _usage(got, len(prompt.encode())), got.served) if asked else self._nothing()
        return Said(OperatorError(reason, what), cost)

    def given_up(self, prompt: str) -> Cost:
        """At least what a question costs whose reply is not waited for: the prompt, which the server has by then. What
        it wrote, and how long it took, is not known."""
        return self._cost(prompt, "", Usage(), 0.0)

    async def close(self) -> None:
        """Release connections and processes. The ledger belongs to the caller."""
        await self._chat.close()
        await self.programs.close()

    def _cost(self, prompt: str, reply: str, usage: Usage, seconds: float) -> Cost:
        counted = Usage(usage.prompt or _estimate(prompt), usage.completion or _estimate(reply), usage.cached)
        money = None if self._price is None else self._price.cost(counted)
        return Cost(1, counted.prompt, counted.completion, seconds, money)

    def _nothing(self) -> Cost:
        return Cost(0, 0, 0, 0.0, 0.0 if self.priced else None)


def build_executor(
    spec: "JudgeSpec",
    endpoint: str,
    ledger: Ledger | None,
    *,
    state: Path | None = None,
    sampling: str = "",
    earlier: Sequence[Path] = (),
    concurrency: int | None = None,
) -> ExecutorModel:
    """The executor model of an experiment; any model that can be served as a judge can be one.

    Args:
        spec: the model, its temperature and longest reply, and limits on calling it.
        endpoint: base URL without ``/v1``.
        ledger: gets a row a call; the caller closes it.
        state: folder of this machine's state, where replies are kept and permits are shared; None does neither.
        sampling: see :class:`ExecutorModel`.
        earlier: tables of calls that count for the run's budget too.
        concurrency: programs that run at once; None for as many as this process has cores.

    Raises:
        JudgeError: the key's variable is not set, or the ledger cannot be read.
    """
    identity = orjson.dumps(spec.identity(), option=orjson.OPT_SORT_KEYS).decode()
    chat = build_chat(spec, endpoint, ledger, state=state, identity=identity, earlier=earlier)
    return ExecutorModel(chat, Programs(concurrency=concurrency), sampling=sampling)


def _spoken(answer: Answer) -> str | OperatorError:
    """The reply without reasoning that stands in it."""
    text = answer.text
    begun = text.lstrip().startswith(_THOUGHT) and "</think>" not in text
    rest = "" if begun else without_reasoning(text).strip()
    if rest:
        return rest
    if answer.finish == "length" or begun:
        return OperatorError(OperatorReason.TRUNCATED, "the model was still thinking when its reply ended")
    return OperatorError(OperatorReason.EMPTY_REPLY, "the model's reply is empty beside its reasoning")


def _usage(failure: Failure, sent: int) -> Usage:
    """Tokens of a reply that came to nothing."""
    try:
        data: Any = orjson.loads(failure.body or b"")
    except orjson.JSONDecodeError:
        return Usage()
    return read_usage(data, sent=sent) if isinstance(data, dict) else Usage()


def _estimate(text: str) -> int:
    """Tokens of a text whose server counts none."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)
