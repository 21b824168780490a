"""A judge that is asked in words: a protocol over chat completions."""

import dataclasses
import time
from collections.abc import Awaitable, Callable, Sequence

from components.core.errors import JudgeError
from components.judge.calls import Answer, Ask, Call
from components.judge.failures import Failure
from components.judge.lengths import Lengths
from components.judge.memory import Entry, Ledger, about
from components.judge.protocols.base import ChatProtocol, Opinion, SampleError
from components.judge.rubrics import check_rubric, refuse_rubric
from components.judge.verdict import Sample, UnknownReason, Verdict

Close = Callable[[], Awaitable[None]]


class ChatJudge:
    """Implements :class:`components.judge.base.Judge`.

    Args:
        name: of the judge, in verdicts.
        protocol: makes questions, and verdicts of their answers.
        ask: puts the questions.
        ledger: gets every verdict; None keeps none. The caller closes it.
        close: releases what ``ask`` uses.
        deadline: seconds for all calls about one sample; None leaves each call its own.
        clock: seconds, as ``ask`` measures them.
        lengths: tells a rubric that fits beside no response; None tells none.
    """

    def __init__(
        self,
        name: str,
        protocol: ChatProtocol,
        ask: Ask,
        *,
        ledger: Ledger | None = None,
        close: Close | None = None,
        deadline: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        lengths: Lengths | None = None,
    ) -> None:
        self.name = name
        self.protocol = protocol
        self._ask = ask
        self._ledger = ledger
        self._close = close
        self._deadline = deadline
        self._clock = clock
        self._lengths = lengths

    async def judge(self, sample: Sample) -> list[Verdict]:
        """See :class:`components.judge.base.Judge`.

        Raises:
            JudgeError: the rubric is empty, has a criterion twice, no positive points, or a criterion that fits beside
                no response; the sample is nothing that the protocol can ask about; or the ledger cannot be written.
        """
        check_rubric(sample, self.name)
        begun = time.monotonic()
        if sample.response.strip():
            heard = Heard(self._ask, None if self._deadline is None else self._clock() + self._deadline)
            try:
                with about(sample):
                    opinions: Sequence[Opinion] = await self.protocol.opinions(sample, heard)
            except SampleError as error:
                where = f"judge {self.name}, row {sample.row_id}"
                raise JudgeError(error.what, where=where, remedy=error.remedy) from error
            if heard.refused is not None and self._lengths is not None:
                await refuse_rubric(sample, self.name, self._lengths, heard.refused)
            tokens = heard.prompt_tokens
        else:
            nothing = Failure(UnknownReason.EMPTY_RESPONSE, "the response is empty")
            opinions, tokens = [Opinion.failed(nothing)] * len(sample.criteria), 0
        verdicts = [self._verdict(opinion) for opinion in opinions]
        self._record(sample, opinions, verdicts, time.monotonic() - begun, tokens)
        return verdicts

    async def close(self) -> None:
        """Release the connections. The ledger belongs to the caller."""
        if self._close is not None:
            await self._close()

    def _verdict(self, opinion: Opinion) -> Verdict:
        return Verdict(
            opinion.status,
            opinion.probability,
            None,
            opinion.reason,
            self.name,
            self.protocol.version,
            opinion.attempts,
            opinion.raw_id,
            opinion.mass,
            opinion.explanation,
        )

    def _record(
        self,
        sample: Sample,
        opinions: Sequence[Opinion],
        verdicts: Sequence[Verdict],
        seconds: float,
        prompt_tokens: int,
    ) -> None:
        if self._ledger is None:
            return
        whole, rest = divmod(prompt_tokens, len(verdicts))
        trouble = next((each.trouble for each in opinions if each.trouble is not None), None)
        self._ledger.add(
            [
                Entry.of(sample, index, verdict, seconds=seconds, prompt_tokens=whole + (index < rest))
                for index, verdict in enumerate(verdicts)
            ],
            raw=trouble.body if trouble else None,
            detail=f"judge {self.name}, row {sample.row_id}: {trouble.detail}" if trouble else None,
        )


@dataclasses.dataclass(slots=True)
class Heard:
    """Puts one sample's calls under its deadline, and counts the prompt tokens that they took.

    Attributes:
        refused: longest reply of the calls that were too long, the least of them; None while there was none.
    """

    ask: Ask
    deadline: float | None = None
    prompt_tokens: int = 0
    refused: int | None = None

    async def __call__(self, call: Call) -> Answer | Failure:
        got = await self.ask(call if self.deadline is None else dataclasses.replace(call, deadline=self.deadline))
        if isinstance(got, Answer) and got.attempts:
            # What came from the cache, or to another caller, was paid for before.
            self.prompt_tokens += got.usage.prompt
        if isinstance(got, Failure) and got.reason is UnknownReason.TOO_LONG:
            self.refused = call.max_tokens if self.refused is None else min(self.refused, call.max_tokens)
        return got
