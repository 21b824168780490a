"""Finding the response's tokens in an echoed prompt."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_servers import completion

from components.judge.echo import locate, read
from components.judge.failures import ReplyError

PREFIX = "<|im_start|>user\nWrite.<|im_end|>\n<|im_start|>assistant\n"


def cut(text: str, places: set[int]) -> list[bytes]:
    """The UTF-8 bytes of ``text``, cut at some of ``places``."""
    raw = text.encode()
    marks = [0, *sorted(place for place in places if 0 < place < len(raw)), len(raw)]
    return [raw[a:b] for a, b in itertools.pairwise(marks) if a < b]


CHARACTERS = st.one_of(st.sampled_from("abc <|>\n.é日😀👩‍"), st.characters(exclude_categories=("Cs",)))


@given(st.text(CHARACTERS, min_size=1, max_size=24), st.sets(st.integers(0, 140)), st.booleans(), st.integers(0, 3))
def test_any_tokenization_of_any_text(response: str, places: set[int], start_token: bool, generated: int) -> None:
    prompt = PREFIX + response
    pieces = cut(prompt, places | set(range(0, len(PREFIX), 3)))
    # What a byte-level tokenizer gives for one token on its own: parts of a character read as U+FFFD.
    tokens = [piece.decode("utf-8", "replace") for piece in pieces]
    edge, place, expected = len(PREFIX.encode()), 0, 0
    for number, piece in enumerate(pieces):
        place += len(piece)
        if place > edge:
            expected = number
            break
    extra = int(start_token)
    first, last = locate(["<s>"] * extra + tokens + ["Sure"] * generated, prompt, len(PREFIX))
    assert (first, last) == (expected + extra, len(tokens) + extra)


def test_a_token_over_the_boundary_belongs_to_the_response() -> None:
    assert locate(["ab", "\nc", "d"], "ab\ncd", 3) == (1, 3)


def test_empty_tokens_of_a_character_in_parts() -> None:
    # vLLM gives the parts of a character as empty texts and the whole with the last one.
    assert locate(["ab", "", "", "é", "x"], "abéx", 2) == (3, 5)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        ["ab"],
        ["ab", "x"],
        ["Sure", "!", " I"],
        ["a", "b", "c"],
        ["ab", "\ufffd"],
        ["\ufffd"],
        ["", "", ""],
    ],
)
def test_other_texts_are_refused(tokens: list[str]) -> None:
    with pytest.raises(ReplyError):
        locate(tokens, "abcd", 2)


def test_sums_are_over_the_response_alone() -> None:
    prompts = [PREFIX + "A cat.", "Other words. " + PREFIX + "A cat."]
    boundaries = [len(PREFIX), len("Other words. " + PREFIX)]
    found = read(completion({"prompt": prompts}), prompts, boundaries)
    for scored, prompt in zip(found, prompts, strict=True):
        assert scored.tokens == ("A", " cat", ".")
        expected = [-0.01 * size - 0.001 * len(prompt) for size in (1, 4, 1)]
        assert scored.logprobs == pytest.approx(expected)
        assert scored.total == pytest.approx(math.fsum(expected))
    assert found[1].prompt_tokens == found[0].prompt_tokens + 4


def test_choices_may_come_in_any_order() -> None:
    prompts = [PREFIX + "A cat.", PREFIX + "x\nA cat."]
    boundaries = [len(PREFIX), len(PREFIX + "x\n")]
    data = completion({"prompt": prompts})
    straight = read(data, prompts, boundaries)
    data["choices"].reverse()
    assert read(data, prompts, boundaries) == straight


def test_many_tokens_that_are_parts_of_characters_are_laid() -> None:
    text = "".join(f"😀 a{number % 10} " for number in range(1200))
    tokens = ["P:"]
    for number in range(1200):
        tokens += ["\ufffd", "\ufffd", " a", str(number % 10), " "]
    assert locate(tokens, "P:" + text, 2) == (1, len(tokens))


def test_a_text_that_fits_nowhere_is_found_out_in_few_tries() -> None:
    tokens = ["\ufffd", "\ufffd", "é"] * 200
    with pytest.raises(ReplyError, match="not those of the prompt"):
        locate(tokens, "é" * 400 + "wxyz", 2)


def test_log_probabilities_that_no_model_gives_are_refused_and_never_summed() -> None:
    prompts = [PREFIX + "A cat.", "Other words. " + PREFIX + "A cat."]
    boundaries = [len(PREFIX), len("Other words. " + PREFIX)]
    reply = completion({"prompt": prompts})
    for choice in reply["choices"]:
        values = choice["logprobs"]["token_logprobs"]
        values[-3:] = [-1e308] * 3
    with pytest.raises(ReplyError, match="which no model gives"):
        read(reply, prompts, boundaries)


@pytest.mark.parametrize(
    ("prompt", "tokens", "first", "last"),
    [
        ("ask: a\x16b", ["ask", ":", " a", "b"], 2, 4),
        ("ask: \x04a b\x01\x02", ["ask", ":", " ", "a", " b"], 2, 5),
        ("ask: \x16\u00e9", ["ask", ":", " ", "\ufffd", "\ufffd"], 2, 5),
        ("ask: a\x1cb\x1f", ["ask", ":", " a", "b"], 2, 4),
        ("ask: \x1d\ufffd1", ["ask", ":", " ", "\ufffd", "1"], 2, 5),
        ("ask: \u00e9\x13\u00e9b", ["ask", ":", " ", *["\ufffd"] * 4, "b"], 2, 8),
    ],
)
def test_control_characters_that_a_tokenizer_has_no_token_for_are_passed_over(prompt, tokens, first, last):
    assert locate(tokens, prompt, 4) == (first, last)


WITHOUT_TOKENS = dict.fromkeys([*range(9), *range(11, 13), *range(14, 32), 127])
"""Control characters that byte-level tokenizers may have no token for."""


@given(
    st.text(st.one_of(CHARACTERS, st.characters(max_codepoint=31)), min_size=1, max_size=24),
    st.sets(st.integers(0, 90)),
)
def test_any_tokenization_that_leaves_control_characters_out(response: str, places: set[int]) -> None:
    kept = [piece.decode(errors="replace") for piece in cut(response.translate(WITHOUT_TOKENS), places)]
    assert locate(["P", ":", *kept, "m", "more"], "P:" + response + "m", 1) == (1, len(kept) + 3)


@pytest.mark.parametrize("prompt", ["ask: a\nb", "ask: a\tb", "ask: axb", "ask: a\u200bb"])
def test_no_other_character_may_be_missing(prompt):
    with pytest.raises(ReplyError):
        locate(["ask", ":", " a", "b"], prompt, 4)
