"""Reads echoed log-probabilities out of a completions reply, and finds the response's tokens among them."""

import dataclasses
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from components.judge.failures import ReplyError

_LEAST: Final = 1e6
"""Of a token's log-probability, below 0. Models give hundreds at most, and servers write -9999 for none; sums of much
larger ones leave the range of numbers."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """The response's part of one echoed prompt.

    Attributes:
        tokens: texts of the response's tokens.
        logprobs: natural log-probability of each, given all before it.
        prompt_tokens: tokens of the whole prompt.
    """

    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]
    prompt_tokens: int

    @property
    def total(self) -> float:
        """log p(response | what stands before it)."""
        return math.fsum(self.logprobs)


def read(data: Mapping[str, Any], prompts: Sequence[str], boundaries: Sequence[int]) -> list[Scored]:
    """The response's log-probabilities for every prompt.

    A token that straddles the boundary counts as the response's: all prompts of a sample end their template in the same
    characters, so the same token straddles everywhere and its share cancels in the ratio as far as it can.

    Args:
        data: the decoded reply.
        prompts: the prompts in the order sent, all ending in the same response.
        boundaries: character offset at which the response begins, one a prompt.

    Raises:
        ReplyError: choices, lists or numbers are missing, of wrong length, not finite, or do not echo the prompt; or
            the response's tokens differ between the prompts.
    """
    choices = data.get("choices")
    if not isinstance(choices, list) or len(choices) != len(prompts):
        got = len(choices) if isinstance(choices, list) else "no list of"
        raise ReplyError(f"{got} choices for {len(prompts)} prompts")
    ordered: dict[int, Mapping[str, Any]] = {}
    for choice in choices:
        if not isinstance(choice, dict) or not isinstance(choice.get("index"), int):
            raise ReplyError("a choice without an index")
        ordered[choice["index"]] = choice
    if sorted(ordered) != list(range(len(prompts))):
        raise ReplyError(f"choices have the indices {sorted(ordered)}, not 0 to {len(prompts) - 1}")
    found = [_read_choice(ordered[n], prompts[n], boundaries[n]) for n in range(len(prompts))]
    for number, scored in enumerate(found[1:], start=1):
        if scored.tokens != found[0].tokens:
            raise ReplyError(f"the response has other tokens in prompt {number} than in prompt 0")
    return found


def _read_choice(choice: Mapping[str, Any], prompt: str, boundary: int) -> Scored:
    block = choice.get("logprobs")
    if not isinstance(block, dict):
        raise ReplyError("no logprobs in the reply: this server ignores logprobs, or echo with logprobs")
    tokens, values = block.get("tokens"), block.get("token_logprobs")
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens) or not tokens:
        raise ReplyError("logprobs.tokens is not a list of texts")
    if not isinstance(values, list) or len(values) != len(tokens):
        got = len(values) if isinstance(values, list) else "no list of"
        raise ReplyError(f"{got} token_logprobs for {len(tokens)} tokens")
    offsets = block.get("text_offset")
    if offsets is not None and (not isinstance(offsets, list) or len(offsets) != len(tokens)):
        raise ReplyError("text_offset does not have one entry a token")
    first, last = locate(tokens, prompt, boundary)
    numbers = []
    for place in range(first, last):
        value = values[place]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ReplyError(f"log-probability of response token {place - first} is {value!r}")
        if value > 1e-3:
            raise ReplyError(f"log-probability of response token {place - first} is positive: {value!r}")
        if value < -_LEAST:
            raise ReplyError(f"log-probability of response token {place - first} is {value!r}, which no model gives")
        numbers.append(float(value))
    return Scored(tuple(tokens[first:last]), tuple(numbers), last)


def locate(tokens: Sequence[str], prompt: str, boundary: int) -> tuple[int, int]:
    """Indices of the first token that reaches beyond ``boundary``, and behind the last token of the prompt.

    The tokens' texts are laid along the prompt. ``text_offset`` is not used: vLLM adds up the lengths of the tokens'
    texts, which is off by a start token in front, and by tokens that are parts of a character and read as U+FFFD.
    Such tokens take up characters until one comes that can be laid again. A control character may have no token at all.

    Raises:
        ReplyError: the texts are not those of the prompt (echo was ignored, or the prompt was changed).
    """
    spans = _lay(tokens, prompt, 0)
    if spans is None and len(tokens) > 1:
        # A start token that the server's tokenizer put in front, such as <s>.
        rest = _lay(tokens[1:], prompt, 0)
        spans = None if rest is None else [(0, 0), *rest]
    if spans is None:
        raise ReplyError("the reply's tokens are not those of the prompt: this server ignores echo, or changes prompts")
    first = next(index for index, (_, end) in enumerate(spans) if end > boundary)
    return first, len(spans)


def _lay(tokens: Sequence[str], prompt: str, place: int) -> list[tuple[int, int]] | None:
    """Start and end of every token of ``prompt[place:]``, without tokens that were generated behind it; None if the
    texts cannot be laid along it to its end.

    Tokens that are parts of characters end at the nearest place at which the rest can be laid. The search goes back to
    the last such run when it is stuck, and tries no place behind a run twice.
    """
    spans: list[tuple[int, int]] = []
    runs: list[_Run] = []
    stuck: set[tuple[int, int]] = set()
    index = 0
    while place < len(prompt):
        stop = index
        while stop < len(tokens) and ("\ufffd" in tokens[stop] or not tokens[stop]):
            stop += 1
        if stop > index:
            runs.append(_Run(index, stop, place, len(spans), _ends(tokens, prompt, place, index, stop)))
        elif index < len(tokens) and (end := _end(tokens[index], prompt, place)) is not None:
            spans.append((place, end))
            place, index = end, index + 1
            continue
        elif index == len(tokens) and _dropped(prompt[place]):
            place += 1
            continue
        elif runs:
            stuck.add((runs[-1].stop, runs[-1].resume))
        going_on = _next(runs, spans, stuck)
        if going_on is None:
            return None
        place, index = going_on
    return spans


def _end(token: str, prompt: str, place: int) -> int | None:
    """Where ``token`` ends that stands at ``place``, with the characters before and within it that have no token; None
    if it does not stand there."""
    if prompt.startswith(token, place):
        return place + len(token)
    for character in token:
        while place < len(prompt) and prompt[place] != character and _dropped(prompt[place]):
            place += 1
        if not prompt.startswith(character, place):
            return None
        place += 1
    return place


def _dropped(character: str) -> bool:
    """Whether tokenizers leave the character out where they have no token for it: SmolLM2's has none for some control
    characters, which an untrained policy writes."""
    return character not in "\t\n\r" and unicodedata.category(character) == "Cc"


@dataclasses.dataclass(slots=True)
class _Run:
    """A run of tokens that are parts of characters: tokens ``index`` to ``stop``, from ``place`` in the prompt."""

    index: int
    stop: int
    place: int
    spans: int
    ends: Iterator[int]
    resume: int = -1


def _next(runs: list[_Run], spans: list[tuple[int, int]], stuck: set[tuple[int, int]]) -> tuple[int, int] | None:
    """Lay the last run to its next end; the run before it where it has none left. None when no run has."""
    while runs:
        run = runs[-1]
        del spans[run.spans :]
        for resume in run.ends:
            if (run.stop, resume) not in stuck:
                run.resume = resume
                spans.extend([(run.place, resume)] * (run.stop - run.index))
                return resume, run.stop
        runs.pop()
        if runs:
            stuck.add((runs[-1].stop, runs[-1].resume))
    return None


def _ends(tokens: Sequence[str], prompt: str, place: int, index: int, stop: int) -> Iterator[int]:
    """Where a run may end, the nearest first: every part stands for one character at most, and for none that is ASCII;
    characters without a token may stand before and between them."""
    left = sum(len(token) for token in tokens[index:stop])
    yield place
    beyond_ascii = False
    for position in range(place, len(prompt)):
        character = prompt[position]
        left -= not _dropped(character)
        if left < 0:
            return
        beyond_ascii = beyond_ascii or not character.isascii()
        if beyond_ascii:
            yield position + 1
