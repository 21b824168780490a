"""A judge that somebody else serves."""

import asyncio
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.core.progress import Progress
from components.judge.build import build_transport
from components.judge.endpoint import Endpoint
from components.judge.failures import Failure
from components.judge.leases.ended import Ended
from components.judge.probing.server import lists_no_models
from components.judge.profiles import profile_for

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


_PATIENCE = 15.0
"""Seconds in which an external judge must answer when a run starts."""


class ExternalPlacement:
    """Nothing to start and nothing to end; only whether it answers is checked.

    Args:
        spec: the judge, with its endpoint.
    """

    def __init__(self, spec: "JudgeSpec") -> None:
        self._spec = spec

    def up(self, progress: Progress) -> Endpoint:
        """See :class:`components.judge.placement.base.JudgePlacement`."""
        url = self._spec.endpoint or ""
        progress.phase(f"judge {self._spec.name} is served by others at {url}; asking whether it answers")
        asyncio.run(self._ask(url))
        return Endpoint(url.rstrip("/"), self._spec.model_name)

    def down(self) -> Ended:
        """Nothing of ours runs."""
        return Ended.ABSENT

    async def _ask(self, url: str) -> None:
        profile = profile_for(self._spec, url)
        transport = build_transport(self._spec, url)
        # Training may wait long for a judge that is busy; one that is not there is to be told at once.
        transport.deadline = min(transport.deadline, _PATIENCE)
        try:
            got = await transport.get(profile.models_route)
        finally:
            await transport.close()
        if isinstance(got, Failure) and not lists_no_models(got, profile):
            raise JudgeError(
                f"the judge does not answer: {got.detail}",
                where=f"judge {self._spec.name}: endpoint {url}",
                remedy="see that the server runs and that endpoint (without /v1) and api_key_env are right",
            )
