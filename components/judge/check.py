"""Five calls to an endpoint: what it is, how fast, and which of the things that protocols need it can do."""

import dataclasses
import time
from typing import TYPE_CHECKING, Any

import orjson

from components.judge.asker import Asker
from components.judge.build import build_budget, build_price
from components.judge.calls import Answer, Call, Message, Usage
from components.judge.chat_reply import read_usage
from components.judge.echo import read
from components.judge.failures import Failure, ReplyError
from components.judge.memory import Account, Budget, Ledger
from components.judge.parsing.reasoning import drop_reasoning
from components.judge.profiles import Profile, profile_for
from components.judge.profiles.vllm import Vllm
from components.judge.protocols import yes_no
from components.judge.protocols.base import Opinion, Sampling
from components.judge.protocols.chat_template import load_chat
from components.judge.remedies import remedy
from components.judge.transport.once import Once
from components.judge.verdict import Criterion, Sample, UnknownReason

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_SCHEMA = {
    "type": "object",
    "properties": {"c1": {"type": "string", "enum": ["met", "unmet"]}},
    "required": ["c1"],
    "additionalProperties": False,
}
_ASK = Message("user", 'The sentence is: "A cat sleeps." Criterion c1: it mentions an animal. Answer as JSON: c1.')
_HELLO = Message("user", "Does a cat count as an animal? Answer with one word, yes or no.")
_WORDLESS = (UnknownReason.TRUNCATED, UnknownReason.EMPTY_REPLY)
_DISTURBED = (UnknownReason.JUDGE_DOWN, UnknownReason.TIMEOUT, UnknownReason.BUDGET)
"""The server was busy or away, or not asked, which says nothing about what it can do."""
_PLAIN = Sample("check", "check", "Write a sentence.", "A cat sleeps.", (Criterion("mentions an animal"),))
_PROTOCOL = "check"
"""In the ledger's rows."""
_LEAST_MASS = 1e-12
_USEFUL_MASS = 0.01
_USUAL_MASS = 0.5
"""The default of reward.min_mass."""
_PROMPT = "A small cat sleeps by the kitchen window."


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        name: what was tried.
        works: None when it was not tried.
        text: what was seen.
        remedy: what to do; "" when there is nothing to do.
        needed: whether the judge cannot be used as it is configured without it.
    """

    name: str
    works: bool | None
    text: str
    remedy: str = ""
    needed: bool = False

    def lines(self, width: int) -> list[str]:
        """The finding for people."""
        mark = {True: "yes", False: "NO", None: "-"}[self.works]
        found = [f"{self.name:<{width}}  {mark:<3}  {self.text}"]
        return [*found, f"{'':<{width}}       remedy: {self.remedy}"] if self.remedy else found


@dataclasses.dataclass(frozen=True, slots=True)
class Books:
    """Where the calls of a check are recorded, and how many it may make."""

    ledger: Ledger | None
    budget: Budget | None

    def asker(self, spec: "JudgeSpec", profile: Profile, wire: Once) -> Asker:
        """Puts the chat calls."""
        return Asker(spec, profile, wire, protocol=_PROTOCOL, ledger=self.ledger, budget=self.budget)

    def account(self, spec: "JudgeSpec") -> Account:
        """Books the other calls."""
        return Account(spec.name, _PROTOCOL, ledger=self.ledger, price=build_price(spec), budget=self.budget)


async def check(spec: "JudgeSpec", endpoint: str, key: str | None, ledger: Ledger | None = None) -> list[Finding]:
    """Try one plain chat, log-probabilities of the reply, a JSON schema, a stream, and an echo with log-probabilities.

    Args:
        spec: the judge.
        endpoint: base URL without ``/v1``.
        key: bearer token, or None.
        ledger: gets every call; the caller closes it. The judge's budget holds for each check anew.

    Raises:
        JudgeError: the configuration forbids what the model needs.
    """
    profile = profile_for(spec, endpoint)
    books = Books(ledger, build_budget(spec, None))
    where = Finding("profile", True, f"{profile.name}; {endpoint.rstrip('/')}{profile.chat_route}")
    async with Once(endpoint, key=key, timeout=spec.timeout_seconds) as wire:
        plain = await _plain(spec, profile, wire, books)
        found = [where, plain]
        if not plain.works and plain.needed:
            return found
        found.append(await _reply_logprobs(spec, profile, wire, books))
        found.append(await _schema(spec, profile, wire, books))
        found.append(await _stream(spec, profile, wire, books))
        found.append(await _echo(spec, profile, wire, books))
    return found


def _tokens(spec: "JudgeSpec") -> int:
    """Reasoning comes before the first word, so a judge that may reason gets all that it is allowed."""
    return 32 if spec.thinking is False or spec.serving == "embedded" else spec.max_answer_tokens


async def _plain(spec: "JudgeSpec", profile: Profile, wire: Once, books: Books) -> Finding:
    got = await books.asker(spec, profile, wire)(Call((_HELLO,), max_tokens=_tokens(spec)))
    if isinstance(got, Failure):
        text = f"{got.reason.value}: {got.detail}"
        # A base model asked by likelihood ratio need not be able to chat.
        needed = not (got.reason in _WORDLESS and spec.logprobs)
        return Finding("chat", False, text, remedy(got, spec, profile), needed)
    if drop_reasoning(got.text).unfinished:
        text = f"it is still thinking when the reply ends: {_shown(got.text)}"
        cut = Failure(UnknownReason.TRUNCATED, text)
        return Finding("chat", False, text, remedy(cut, spec, profile), not spec.logprobs)
    speed = f"{got.usage.completion / got.seconds:.0f} tokens a second" if got.usage.completion else "tokens not told"
    return Finding("chat", True, f"{got.seconds:.2f} s, {speed}; it says {_shown(got.text)}")


async def _reply_logprobs(spec: "JudgeSpec", profile: Profile, wire: Once, books: Books) -> Finding:
    """Asks as ``rubric_token`` does, and says how much of the probability its two words have."""
    name, asked = "log-probabilities of the reply", spec.model_copy(update={"answer_logprobs": True})
    if not profile.takes_logprobs(asked):
        text = f"not asked: {profile.name} gives none for {spec.model_name}"
        return _claim(name, False, text, spec.answer_logprobs, "answer_logprobs")
    heard: list[Answer | Failure] = []
    ask = books.asker(asked, profile, wire)

    async def listen(call: Call) -> Answer | Failure:
        heard.append(await ask(call))
        return heard[-1]

    template = load_chat(yes_no.NAME, yes_no.FIELDS, asks_again=False)
    token = yes_no.YesNo(template, Sampling(1, spec.temperature), _LEAST_MASS)
    (opinion,) = await token.opinions(_PLAIN, listen)
    got = heard[0]
    if untried := _untried(name, got):
        return untried
    tokens = got.tokens if isinstance(got, Answer) else None
    if not tokens:
        text = got.detail if isinstance(got, Failure) else "the reply has none"
        return _claim(name, False, text, spec.answer_logprobs, "answer_logprobs")
    text, hint = _mass(opinion)
    found = _claim(
        name, True, f"up to {len(tokens[0].top)} alternatives; {text}", spec.answer_logprobs, "answer_logprobs"
    )
    return found if not hint else dataclasses.replace(found, remedy="; ".join(filter(None, (found.remedy, hint))))


def _mass(opinion: Opinion) -> tuple[str, str]:
    """How much yes and no have together, which rubric_token needs, and what to do where it is little."""
    if opinion.mass is None:
        return opinion.trouble.detail if opinion.trouble else "yes and no have no probability", ""
    text = f"yes and no have {opinion.mass:.2g} together"
    if opinion.mass >= _USUAL_MASS:
        return text, ""
    if opinion.mass < _USEFUL_MASS:
        return text, "the judge wants to say something else: rubric_token is not for it"
    return text, (
        f"for rubric_token set reward.min_mass below {opinion.mass:.2g} (default {_USUAL_MASS}), its verdicts then "
        "only rank; or take a judge that wants to answer yes or no"
    )


async def _schema(spec: "JudgeSpec", profile: Profile, wire: Once, books: Books) -> Finding:
    name = "JSON schema"
    call = Call((_ASK,), max_tokens=max(64, _tokens(spec)), schema=_SCHEMA)
    tried: Profile = profile
    if not profile.structure(call, spec):
        if profile.name != "generic" or spec.serving == "embedded":
            return Finding(
                name, None, f"not sent to {profile.name} for {spec.model_name}; the parser takes any wrapping"
            )
        tried = Vllm(profile.prefix)
    got = await books.asker(spec, tried, wire)(call)
    if untried := _untried(name, got):
        return untried
    if isinstance(got, Failure):
        return Finding(
            name, False, f"{got.reason.value}: {got.detail}", "none is needed: the parser takes any wrapping"
        )
    if not _obeys(got.text):
        return Finding(name, False, f"taken, and not obeyed: {_shown(got.text)}", "none is needed: replies are parsed")
    hint = "set profile: vllm to use it" if tried is not profile else ""
    return Finding(name, True, f"obeyed: {_shown(got.text)}", hint)


async def _stream(spec: "JudgeSpec", profile: Profile, wire: Once, books: Books) -> Finding:
    asked = spec.model_copy(update={"stream": "always"})
    got = await books.asker(asked, profile, wire)(Call((_HELLO,), max_tokens=_tokens(spec)))
    if isinstance(got, Answer):
        told = "" if got.usage.completion else "; tokens not told"
        return Finding("streaming", True, f"{got.seconds:.2f} s{told}")
    if untried := _untried("streaming", got):
        return untried
    return Finding(
        "streaming",
        False,
        f"{got.reason.value}: {got.detail}",
        "set stream: never" if spec.stream != "never" else "",
        needed=profile.streams(spec),
    )


async def _echo(spec: "JudgeSpec", profile: Profile, wire: Once, books: Books) -> Finding:
    name = "log-probabilities of the prompt"
    if not profile.echoes:
        return _claim(name, False, f"not asked: {profile.name} echoes no prompt", spec.logprobs, "logprobs")
    body: dict[str, Any] = {
        "model": spec.model_name,
        "prompt": [_PROMPT],
        "max_tokens": 0,
        "echo": True,
        "logprobs": 1,
        "temperature": 0,
    }
    begun = time.monotonic()
    payload, account = orjson.dumps(body), books.account(spec)
    refused = account.reserve(Usage())
    if refused is not None:
        account.record(payload, begun, attempts=0, failure=refused)
        return Finding(name, None, f"not told: {refused.detail}")
    got = await wire.post(profile.completions_route, payload)
    if isinstance(got, Failure):
        account.settle(Usage(), got.attempts)
        account.record(payload, begun, attempts=got.attempts, failure=got)
        return _untried(name, got) or _claim(name, False, got.detail, spec.logprobs, "logprobs")
    usage = read_usage(got.data, sent=len(payload))
    account.settle(usage, got.attempts)
    account.record(payload, begun, attempts=got.attempts, usage=usage, reply=got)
    try:
        read(got.data, [_PROMPT], [len("A small")])
    except ReplyError as error:
        return _claim(name, False, str(error), spec.logprobs, "logprobs")
    return _claim(name, True, f"{time.monotonic() - begun:.2f} s", spec.logprobs, "logprobs")


def _untried(name: str, got: object) -> Finding | None:
    """A finding for a call that says nothing about what was tried: the server was busy, or the model has no words."""
    if isinstance(got, Failure) and got.reason in (*_DISTURBED, *_WORDLESS):
        return Finding(name, None, f"not told: {got.reason.value}: {got.detail}")
    return None


def _claim(name: str, works: bool, text: str, claimed: bool, field: str) -> Finding:
    """A finding beside what the configuration says of it."""
    if works and not claimed:
        return Finding(name, True, text, f"set {field}: true to use protocols that need them")
    if claimed and not works:
        hint = f"set {field}: false, or serve the model with a server that gives them, such as vLLM"
        return Finding(name, False, text, hint, needed=True)
    return Finding(name, works, text)


def _obeys(text: str) -> bool:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(found, dict) and found.get("c1") in ("met", "unmet")


def _shown(text: str) -> str:
    short = " ".join(text.split())
    return repr(short if len(short) <= 60 else f"{short[:60]}...")
