"""Whether a judge answers at all, asked before much is asked of it."""

from typing import TYPE_CHECKING, Final

from components.core.errors import JudgeError
from components.judge.build import build_transport
from components.judge.failures import Failure
from components.judge.probing.server import lists_no_models
from components.judge.profiles import profile_for

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_PATIENCE: Final = 15.0
"""Seconds in which a judge must answer when its first call is made."""


async def must_answer(spec: "JudgeSpec", url: str) -> None:
    """Ask for the list of models; a server that merely has none answers, too.

    Args:
        spec: the judge.
        url: base URL without ``/v1``.

    Raises:
        JudgeError: it does not answer in time, or the URL is none.
    """
    profile = profile_for(spec, url)
    transport = build_transport(spec, url)
    # A run waits long for a judge that is busy; one that is not there is to be told at once.
    transport.deadline = min(transport.deadline, _PATIENCE)
    try:
        got = await transport.get(profile.models_route)
    finally:
        await transport.close()
    if isinstance(got, Failure) and not lists_no_models(got, profile):
        raise JudgeError(
            f"the judge does not answer: {got.detail}",
            where=f"judge {spec.name}: endpoint {url}",
            remedy="see that the server runs and that endpoint (without /v1) and api_key_env are right",
        )
