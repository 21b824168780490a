"""A model that is asked for no verdicts, such as what executes workflows, is asked for a few words."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.core.errors import JudgeError
from components.judge.build import build_chat, build_transport
from components.judge.calls import Call, Message
from components.judge.failures import Failure
from components.judge.memory import Ledger
from components.judge.probing.server import failed, find_model, lists_no_models
from components.judge.profiles import profile_for
from components.judge.verdict import UnknownReason

if TYPE_CHECKING:
    from components.core.manifest import Scalar
    from components.core.spec.judge import JudgeSpec

_QUESTION: Final = "What is 2 + 2? Answer with one number."
_WORDLESS: Final = frozenset({UnknownReason.EMPTY_REPLY, UnknownReason.TRUNCATED})
"""Failures of a model that is up, and whose words are none; a weak one may do so."""


async def probe_words(
    spec: "JudgeSpec", url: str, ledger: Ledger | None = None, state: Path | None = None
) -> dict[str, "Scalar"]:
    """Check that the model is there and replies.

    Args:
        spec: the model.
        url: base URL without ``/v1``.
        ledger: gets the call, and what it has of this model counts for the budget; the caller closes it.
        state: folder of this machine's state, where the model's tokenizer may lie. No kept reply is taken.

    Returns:
        ``latency_seconds`` of one reply, and ``replied``: whether it had any words.

    Raises:
        JudgeError: it does not answer, or is not the model; says what to do.
    """
    profile = profile_for(spec, url)
    transport = build_transport(spec, url)
    try:
        got = await transport.get(profile.models_route)
        if not isinstance(got, Failure):
            find_model(got.data, spec, f"executor {spec.name} at {url}")
        elif not lists_no_models(got, profile):
            raise _failed(got, spec, url)
    finally:
        await transport.close()
    chat = build_chat(spec.model_copy(update={"cache": False}), url, ledger, state=state)
    begun = time.monotonic()
    try:
        call = Call((Message("user", _QUESTION),), min(64, spec.max_answer_tokens), spec.temperature)
        answer = await chat.asker("probe-words")(call)
    finally:
        await chat.close()
    if isinstance(answer, Failure) and answer.reason not in _WORDLESS:
        raise _failed(answer, spec, url)
    return {"latency_seconds": time.monotonic() - begun, "replied": not isinstance(answer, Failure)}


def _failed(failure: Failure, spec: "JudgeSpec", url: str) -> JudgeError:
    error = failed(failure, spec, url)
    return JudgeError(
        error.what.replace("the judge", "the executor model"),
        where=f"executor {spec.name} at {url}",
        remedy=error.remedy,
    )
