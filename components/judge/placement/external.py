"""A judge that somebody else serves."""

import asyncio
from typing import TYPE_CHECKING

from components.core.progress import Progress
from components.judge.answering import must_answer
from components.judge.endpoint import Endpoint
from components.judge.leases.ended import Ended

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


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
        asyncio.run(must_answer(self._spec, url))
        return Endpoint(url.rstrip("/"), self._spec.model_name)

    def down(self) -> Ended:
        """Nothing of ours runs."""
        return Ended.ABSENT
