"""What a server says of the model, and what its failures mean for whoever configured the judge."""

import json
from typing import TYPE_CHECKING, Any

from components.core.errors import JudgeError
from components.judge.failures import Failure
from components.judge.profiles import Profile, profile_for
from components.judge.remedies import remedy

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


def failed(failure: Failure, spec: "JudgeSpec", url: str) -> JudgeError:
    """The error for a call that failed for good."""
    said = "" if failure.body is None else " ".join(_said(failure.body).split())
    told = f"; it says {said[:120]!r}" if said and said[:40] not in failure.detail else ""
    return JudgeError(
        f"the judge does not answer as it should ({failure.reason.value}): {failure.detail}{told}",
        where=f"judge {spec.name} at {url}",
        remedy=remedy(failure, spec, profile_for(spec, url)),
    )


def _said(body: bytes) -> str:
    """What a reply says: the model's text where there is one, or else the reply as it came."""
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, TypeError, LookupError, RecursionError):
        content = None
    return content[:400] if isinstance(content, str) else body[:400].decode("utf-8", "replace")


def lists_no_models(failure: Failure, profile: Profile) -> bool:
    """Whether the server merely has no list of models, as some gateways."""
    return f"{profile.models_route}: status 404" in failure.detail or f"{profile.models_route}: status 405" in (
        failure.detail
    )


def find_model(models: dict[str, Any], spec: "JudgeSpec", where: str) -> int | None:
    """The context that the server states for the model, if it does.

    Raises:
        JudgeError: it has no such model, or one that reads less than the judge's configuration says.
    """
    cards = models.get("data")
    cards = [card for card in cards if isinstance(card, dict)] if isinstance(cards, list) else []
    card = next((card for card in cards if card.get("id") == spec.model_name), None)
    if card is None:
        there = ", ".join(str(card.get("id")) for card in cards) or "none"
        raise JudgeError(
            f"the server has no model {spec.model_name!r}; it has: {there}",
            where=where,
            remedy="set the judge's model_name to one of these",
        )
    context = card.get("max_model_len")
    if not isinstance(context, int):
        return None
    if context < spec.context_tokens:
        raise JudgeError(
            f"the server reads {context} tokens, and the judge's context_tokens says {spec.context_tokens}",
            where=where,
            remedy=f"set context_tokens to at most {context}, or serve the model with a longer context",
        )
    return context
