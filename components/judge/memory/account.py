"""What a judge's calls leave behind: a row of the ledger each, at a price, under a budget."""

import hashlib
import time

from components.judge.calls import Answer, Usage
from components.judge.carrier import Reply
from components.judge.failures import Failure
from components.judge.memory.budget import Budget, Price
from components.judge.memory.ledger import Ledger
from components.judge.memory.rows import CallRow
from components.judge.verdict import UnknownReason


class Account:
    """Books the calls of one judge and one protocol. For one event loop.

    Args:
        judge: name of the judge.
        protocol: name and version hash of the protocol.
        ledger: gets a row a call; None keeps none. The caller closes it.
        price: what tokens cost; None leaves the cost unknown.
        budget: shared by all that ask the judge in a run; None has no limit.
    """

    def __init__(
        self,
        judge: str,
        protocol: str,
        *,
        ledger: Ledger | None = None,
        price: Price | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._judge = judge
        self._protocol = protocol
        self._ledger = ledger
        self._price = price
        self._budget = budget

    def reserve(self, guess: Usage) -> Failure | None:
        """Take one call from the budget; a failure that says which limit is reached if there is none left."""
        if self._budget is None or self._budget.reserve(guess):
            return None
        return Failure(UnknownReason.BUDGET, self._budget.reached or "the budget is used up")

    def settle(self, usage: Usage, calls: int) -> None:
        """End a call that :meth:`reserve` let in; see :meth:`Budget.spent`."""
        if self._budget is not None:
            self._budget.spent(usage, calls)

    def record(
        self,
        body: bytes,
        begun: float,
        *,
        attempts: int,
        usage: Usage | None = None,
        reply: Reply | None = None,
        failure: Failure | None = None,
        answer: Answer | None = None,
        finish: str | None = None,
        about: tuple[str, int] | None = None,
        purpose: str = "ask",
        from_cache: bool = False,
    ) -> None:
        """Append the call's row.

        Args:
            body: what was sent, or would have been; b"" where it came to no body.
            begun: time on ``time.monotonic``.
            attempts: HTTP calls made.
            usage: tokens that the server counted; None where it counted none.
            reply: the last reply of status 200, if one came.
            failure: why nothing came of it; None when something did.
            answer: what a chat judge said.
            finish: why the reply ended, where there is no ``answer`` to say it.
            about: the sample's id and the characters of its response; None leaves it to :func:`about`.
            purpose: see :class:`CallRow`.
            from_cache: whether our cache answered.

        Raises:
            JudgeError: the ledger cannot be written.
        """
        if self._ledger is None:
            return
        used = usage or Usage()
        made = reply if reply is not None else failure
        sample_id, response_chars = about or (None, None)
        self._ledger.add_call(
            CallRow(
                time=time.time(),
                judge=self._judge,
                protocol=self._protocol,
                purpose=purpose,
                prompt_hash=hashlib.sha256(body).hexdigest(),
                attempts=attempts,
                seconds=time.monotonic() - begun,
                key=None if made is None else made.key,
                endpoint=None if made is None else made.endpoint,
                prompt_tokens=used.prompt,
                completion_tokens=used.completion,
                cached_tokens=used.cached,
                cost=None if self._price is None else self._price.cost(used),
                currency=None if self._price is None else self._price.currency,
                finish=finish if answer is None else answer.finish,
                reason=None if failure is None else failure.reason.value,
                from_cache=from_cache,
                reply_chars=0 if answer is None else len(answer.text),
                raw_id=_raw_id(reply, failure) if answer is None else answer.raw_id,
                sample_id=sample_id,
                response_chars=response_chars,
            )
        )


def _raw_id(reply: Reply | None, failure: Failure | None) -> str | None:
    body = failure.body if failure is not None else None if reply is None else reply.body
    return None if body is None else hashlib.sha256(body).hexdigest()
