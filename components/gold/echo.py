"""Whether a response parrots the criterion, or talks about itself, instead of doing what the criterion asks.

A judge that ranks by likelihood can be won over by a response that repeats the criterion ("The sentence mentions a
creature with a specific animal, which is a cat."). A list of words calls that a success when the right word is dropped
along the way, so parroting is looked for by itself. Nothing here knows the topic: everything comes from the criterion's
text and from a small stock of words that people use for texts and requirements. Each rule is about one sentence.

Words of the request are no evidence: a response about the harbour may say *harbour* whatever the criterion says.
"""

import dataclasses
import math
import re
from collections.abc import Iterable, Sequence

from components.gold.stock import stock
from components.gold.text import FUNCTION_WORDS, normalise, sentences, stem, words

OVERLAP = 0.6
"""Share of the criterion's content words from which on a sentence repeats it."""

COPIED_WORDS = 4
"""Fewest words in a row that count as a copy of the criterion."""


TEXT_NOUNS = frozenset(map(stem, stock("text_nouns")))
LOOSE_TEXT_NOUNS = frozenset(map(stem, stock("loose_text_nouns")))
TEXT_VERBS = frozenset(map(stem, stock("text_verbs")))
SPEECH_VERBS = frozenset(map(stem, stock("speech_verbs")))
LABELS = frozenset(map(stem, stock("labels")))
KINDS = frozenset(map(stem, stock("kinds")))
ABOUT_TEXT = TEXT_NOUNS | LOOSE_TEXT_NOUNS | TEXT_VERBS | LABELS | KINDS | frozenset(map(stem, stock("word_nouns")))
OWN_NAMES = frozenset(map(stem, stock("own_names")))
POINTERS = stock("pointers")
CLAIMS = stock("claims")
ARTICLES = frozenset({"a", "an", "the", "some"})
SUBJECTS = frozenset({"", "it", "this", "that", "which", "i"})
PASSIVE = frozenset({"", "is", "are"})
DETERMINERS = POINTERS | ARTICLES | {"one"}

_PREAMBLE = re.compile(
    r"^\W*(?:(?:sure|certainly|of course|absolutely|okay|ok)\b[^:\n]{0,20}?)?"
    r"(?:here(?:'s| is| are)|this is)[^:\n]{0,100}:"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Echo:
    """What was found: the rule's name and the words it saw. ``rule`` is None when there is no echo."""

    rule: str | None
    evidence: str = ""

    def __bool__(self) -> bool:
        return self.rule is not None


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """A criterion as the rules see it.

    Attributes:
        tokens: its words.
        content: stems of its words that carry meaning, less those of the request.
        topic: of these, the ones that are no word for texts or what texts do.
    """

    tokens: tuple[str, ...]
    content: frozenset[str]
    topic: frozenset[str]

    @classmethod
    def of(cls, criterion: str, question: str) -> "Target":
        """Read a criterion, in the light of the request that the response answers."""
        tokens = tuple(words(criterion))
        asked = {stem(word) for word in words(question)}
        content = frozenset(stem(word) for word in tokens if word not in FUNCTION_WORDS)
        return cls(tokens, content - (asked - ABOUT_TEXT), content - asked - ABOUT_TEXT)


def find_echo(criteria: Iterable[str], response: str, question: str = "") -> Echo:
    """The first sign of parroting in ``response``.

    Args:
        criteria: texts of the criteria that the response can gain by.
        response: the response.
        question: the user's request.
    """
    targets = [Target.of(text, question) for text in criteria]
    topics = frozenset[str]().union(*(target.topic for target in targets))
    content = topics.union(*(target.content for target in targets))
    text = _without_preamble(re.sub(r"[^\S\n]+", " ", normalise(response)), topics)
    for label in re.finditer(r"([^\W_]+)\s*[:=]", text):
        if stem(label.group(1)) in topics:
            return Echo("label", label.group())
    for sentence in sentences(text):
        found = _self_reference(sentence, content) or _category(sentence, topics)
        if not found:
            found = next((echo for target in targets if (echo := _repeats(sentence, target))), found)
        if found:
            return found
    return Echo(None)


def _without_preamble(text: str, topics: frozenset[str]) -> str:
    """Drop "Here is a short sentence about the harbour:", unless that itself repeats the criterion."""
    match = _PREAMBLE.match(text)
    if match is None or {stem(word) for word in words(match.group())} & (topics | SPEECH_VERBS):
        return text
    return text[match.end() :]


def _self_reference(sentence: Sequence[str], content: frozenset[str]) -> Echo:
    """The response speaks of itself: "the sentence mentions", "this response is", "the text uses" what is asked for."""
    stems = [stem(word) for word in sentence]
    for place, word in enumerate(stems):
        before = sentence[place - 1] if place else ""
        after = sentence[place + 1 : place + 5]
        evidence = " ".join([before, sentence[place], *after]).strip()
        verb = any(stem(other) in TEXT_VERBS or stem(other) in content for other in after)
        claim = bool(after) and after[0] in CLAIMS
        pointed = place == 0 or bool(DETERMINERS.intersection(sentence[max(0, place - 2) : place]))
        if word in TEXT_NOUNS and (verb or claim) and pointed:
            return Echo("self_reference", evidence)
        if word in LOOSE_TEXT_NOUNS and before in POINTERS and verb:
            return Echo("self_reference", evidence)
        if word in OWN_NAMES and before in {"this", "my"} and claim:
            return Echo("self_reference", evidence)
        if word in SPEECH_VERBS and before in (PASSIVE if sentence[place].endswith("d") else SUBJECTS):
            return Echo("self_reference", evidence)
    return Echo(None)


def _category(sentence: Sequence[str], topics: frozenset[str]) -> Echo:
    """The criterion's own noun used as a label: "a specific animal", "a kind of animal", "a cat is an animal"."""
    for place, word in enumerate(sentence):
        if stem(word) not in topics:
            continue
        before = list(sentence[max(0, place - 3) : place])
        after = list(sentence[place + 1 : place + 3])
        evidence = " ".join([*before, word, *after])
        if any(stem(other) in LABELS for other in before[-2:]):
            return Echo("category", evidence)
        if "of" in before and any(stem(other) in KINDS for other in before):
            return Echo("category", evidence)
        if before[-2:-1] and before[-2] in {"is", "was", "be"} and before[-1] in ARTICLES:
            return Echo("category", evidence)
        if before[-1:] and before[-1] in {"are", "were"} and word.endswith("s"):
            return Echo("category", evidence)
        if after[:1] and (
            after[0] in {"called", "named", "namely", "mentioned", "specified"} or after == ["such", "as"]
        ):
            return Echo("category", evidence)
        if (
            before[-1:]
            and before[-1] in {"the", "this", "that"}
            and after[:1] == ["is"]
            and after[1:]
            and after[1] in ARTICLES
        ):
            return Echo("category", evidence)
    return Echo(None)


def _repeats(sentence: Sequence[str], target: Target) -> Echo:
    """Most of the criterion's content words together, with one that is about texts among them; or a copied stretch."""
    stems = {stem(word) for word in sentence}
    shared = target.content & stems
    about_text = TEXT_NOUNS | TEXT_VERBS | LABELS
    if (
        len(shared) >= max(2, math.ceil(OVERLAP * len(target.content)))
        and shared & about_text
        and shared & target.topic
    ):
        return Echo("overlap", " ".join(sorted(shared)))
    length = max(COPIED_WORDS, math.ceil(OVERLAP * len(target.tokens)))
    windows = {tuple(sentence[start : start + length]) for start in range(len(sentence) - length + 1)}
    for start in range(len(target.tokens) - length + 1):
        window = target.tokens[start : start + length]
        if window in windows and len({stem(word) for word in window} & target.content) > 1:
            return Echo("copy", " ".join(window))
    return Echo(None)
