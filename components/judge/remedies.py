"""What to do about a call that failed for good."""

from typing import TYPE_CHECKING

from components.judge.failures import Failure
from components.judge.profiles.base import Profile
from components.judge.verdict import UnknownReason

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


def remedy(failure: Failure, spec: "JudgeSpec", profile: Profile) -> str:
    """One sentence for the person who configured the judge."""
    reason, detail = failure.reason, failure.detail
    if reason is UnknownReason.BUDGET:
        return "raise the judge's budget; what the ledger has of earlier calls counts as well"
    if "status 401" in detail or "status 403" in detail:
        if spec.api_key_env is None:
            return "the server wants a key: put it into an environment variable and name that in api_key_env"
        return f"the key in {spec.api_key_env} is not accepted: see that it is right, and of this provider and region"
    if "status 404" in detail:
        return (
            f"either the model {spec.model_name!r} is not served there (see {profile.models_route}), or the route is "
            "another: plain vLLM serves /v1 (profile: vllm), KServe /openai/v1 (profile: kserve)"
        )
    if "status 429" in detail:
        return "the provider limits the rate: set limits.requests_per_minute and limits.tokens_per_minute"
    if "stream" in detail.lower() and reason is UnknownReason.REJECTED and "status 400" in detail:
        return "if the model only streams, set stream: always"
    if reason is UnknownReason.JUDGE_DOWN:
        start = "" if spec.serving == "external" else f"; make judge JUDGE={spec.name} starts one here"
        return f"see that the server runs and that the endpoint (without /v1) is right{start}"
    if reason is UnknownReason.TIMEOUT:
        return f"the server is slow or hangs: raise timeout_seconds ({spec.timeout_seconds:g}), or read its log"
    if "no JSON" in detail:
        return "there is no OpenAI server at this URL, or a proxy answers in its place: see the endpoint (without /v1)"
    if failure.attempts and reason in (UnknownReason.UNPARSEABLE, UnknownReason.MISSING, UnknownReason.CONTRADICTORY):
        return (
            "if the server is an OpenAI chat server, the model does not keep to the form: take a larger judge, or "
            "reward.protocol: rubric_token, which needs no form"
        )
    if reason is UnknownReason.LOW_MASS:
        # Whether reasoning takes the place of the answer can be changed only where the server has a switch for it.
        quiet = spec.model_copy(update={"thinking": False})
        switch = "set thinking: false, " if spec.thinking is not False and profile.thinking(quiet) else ""
        return (
            f"the model wants to say something else than yes or no: {switch}lower reward.min_mass if the judge is "
            "small (its verdicts then only rank), or choose another protocol"
        )
    if reason is UnknownReason.UNDECIDED:
        return "the judge says of a plain sentence that it cannot tell: take a larger judge"
    if reason is UnknownReason.TOO_LONG:
        return "lower max_answer_tokens, shorten the response, or take a judge with a longer context_tokens"
    if reason is UnknownReason.TRUNCATED:
        return "raise max_answer_tokens, lower it if it does not fit context_tokens, or set thinking: false"
    if reason is UnknownReason.EMPTY_REPLY:
        return "set thinking: false, or see that the server's reasoning parser fits the model"
    if reason is UnknownReason.REFUSED:
        return "the provider's content filter refuses even a harmless question: read its message"
    if reason is UnknownReason.REJECTED:
        return "a field was rejected: name the right profile (vllm, kserve, openai, dashscope), or profile: generic"
    return "ask the endpoint by hand (curl), and read the server's log; is it an OpenAI chat server?"
