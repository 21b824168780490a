"""Calls in words to one model, under one set of limits: what a chat judge and an executor of workflows share."""

from typing import TYPE_CHECKING

from components.judge.asker import Asker
from components.judge.lengths import Lengths
from components.judge.memory import Budget, Cache, Ledger
from components.judge.profiles.base import Profile
from components.judge.transport import Transport

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


class Chat:
    """One model and all that calls to it share. For one event loop.

    Args:
        spec: the model.
        profile: what its server understands.
        transport: makes the calls; closed with this.
        lengths: tells what is too long before it is sent.
        identity: what decides the model's replies beside its name, for the kept ones.
        cache: whole replies of earlier calls; None keeps none. Closed with this.
        ledger: gets a row a call; None keeps none. The caller closes it.
        budget: of the run; None has no limit.
    """

    def __init__(
        self,
        spec: "JudgeSpec",
        profile: Profile,
        transport: Transport,
        lengths: Lengths,
        *,
        identity: str = "",
        cache: Cache | None = None,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.spec = spec
        self.lengths = lengths
        self._profile = profile
        self._transport = transport
        self._identity = identity
        self._cache = cache
        self._ledger = ledger
        self._budget = budget
        self._askers: dict[tuple[str, str], Asker] = {}

    def asker(self, protocol: str, draw: str = "") -> Asker:
        """Who puts the calls of one protocol. Equal calls to equal askers have one reply, now and from the cache.

        Args:
            protocol: name and version hash of what is asked; for the cache and the ledger.
            draw: identity of a draw beyond the call itself, such as the number of a repetition.
        """
        found = self._askers.get((protocol, draw))
        if found is None:
            found = self._askers[protocol, draw] = Asker(
                self.spec,
                self._profile,
                self._transport,
                identity=self._identity,
                protocol=protocol,
                sampling=draw,
                cache=self._cache,
                ledger=self._ledger,
                budget=self._budget,
                lengths=self.lengths,
            )
        return found

    async def close(self) -> None:
        """Release the connections, and write what is to be kept. The ledger belongs to the caller."""
        await self._transport.close()
        if self._cache is not None:
            self._cache.close()
