"""What a judge's calls leave behind: a row of the ledger each, at a price, under a budget."""

import hashlib
import time

from components.judge.calls import Usage
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
        usage: Usage,
        reply: Reply | None,
        failure: Failure | None,
        about: tuple[str, int],
        finish: str | None = None,
        purpose: str = "ask",
    ) -> None:
        """Append the call's row.

        Args:
            body: what was sent, or would have been; b"" where it came to no body.
            begun: time on ``time.monotonic``.
            attempts: HTTP calls made.
            usage: tokens that the server counted.
            reply: the last reply of status 200, if one came.
            failure: why there is no answer; None when there is one.
            about: the sample's id and the characters of its response.
            finish: see :class:`CallRow`; as is ``purpose``.

        Raises:
            JudgeError: the ledger cannot be written.
        """
        if self._ledger is None:
            return
        raw = reply.body if failure is None and reply is not None else None if failure is None else failure.body
        self._ledger.add_call(
            CallRow(
                time=time.time(),
                judge=self._judge,
                protocol=self._protocol,
                purpose=purpose,
                prompt_hash=hashlib.sha256(body).hexdigest(),
                attempts=attempts,
                seconds=time.monotonic() - begun,
                key=None if reply is None else reply.key,
                endpoint=None if reply is None else reply.endpoint,
                prompt_tokens=usage.prompt,
                completion_tokens=usage.completion,
                cached_tokens=usage.cached,
                cost=None if self._price is None else self._price.cost(usage),
                currency=None if self._price is None else self._price.currency,
                finish=finish,
                reason=None if failure is None else failure.reason.value,
                raw_id=None if raw is None else hashlib.sha256(raw).hexdigest(),
                sample_id=about[0],
                response_chars=about[1],
            )
        )
