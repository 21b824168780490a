"""What does not fit the judge is known before the call, by its own tokenizer where that lies here, and said so."""

import collections
from pathlib import Path
from typing import Any

import pytest
from chat_servers import ChatServer, completion, say
from judge_servers import REWARD, Scripted, good, sample, spec

from components.core.errors import JudgeError
from components.core.spec.reward import RewardSpec
from components.core.spec.source import TinySource
from components.judge.build import build_judge
from components.judge.lengths import Lengths, lengths_for
from components.judge.verdict import Criterion, UnknownReason
from components.models.materialize import cache_folder, materialize, on_this_machine

RUBRIC = RewardSpec(name="r", protocol="rubric", value="binary")
LETTERS = {"source": {"kind": "tiny"}, "serving": "external"}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GAVEL_CACHE", raising=False)
    return tmp_path


def test_a_tokenizer_that_is_not_here_is_not_fetched_and_words_are_counted(state: Path) -> None:
    assert on_this_machine(TinySource(kind="tiny"), state) is None
    lengths = lengths_for(spec(**LETTERS, context_tokens=64), state)
    assert not cache_folder(state).exists()
    assert lengths.excess(["a " * 40], 24) is None
    assert lengths.excess(["a " * 41], 24) == "41 words, counted as one token each,"
    # One word of many letters may be one token.
    assert lengths.excess(["a" * 10_000], 24) is None


def test_the_judges_own_tokenizer_counts_where_it_lies_here(state: Path) -> None:
    folder = materialize(TinySource(kind="tiny"), cache_folder(state))
    assert on_this_machine(TinySource(kind="tiny"), state) == folder
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(folder)
    lengths = lengths_for(spec(**LETTERS, context_tokens=256), state)
    for text in ("The cat sleeps. " * 30, "Donaudampfschiff" * 40, "\U0001f431 \ud800 e\u0301\n\n" * 40):
        tokens = len(theirs.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False))
        assert lengths.excess([text], 256 - tokens) is None
        assert lengths.excess([text], 257 - tokens) == f"{tokens} tokens by the judge's own tokenizer"


def test_what_prompts_share_is_counted_once_and_what_surely_fits_never() -> None:
    counted: collections.Counter[str] = collections.Counter()

    def count(text: str) -> int:
        counted[text] += 1
        return len(text) // 4

    lengths = Lengths(1000, lambda: count)
    shared = "q" * 900
    for number in range(20):
        assert lengths.excess([f"{shared}\n\n{number}"], 600) is None
    assert counted[shared] == 1
    counted.clear()
    assert lengths.excess(["short"], 100) is None
    assert not counted


async def judged(url: str, changes: dict[str, Any], reward: RewardSpec, *given: Any, state: Path | None = None) -> Any:
    judge = build_judge(spec(**changes), reward, url, None, state=state)
    try:
        return await judge.judge(sample(*given))
    finally:
        await judge.close()


@pytest.mark.parametrize("known", [True, False])
async def test_a_response_that_is_too_long_is_typed_and_nothing_is_sent(state: Path, known: bool) -> None:
    if known:
        materialize(TinySource(kind="tiny"), cache_folder(state))
    server = ChatServer(say(completion()))
    changes = LETTERS | {"context_tokens": 3000, "max_answer_tokens": 100}
    async with server.serve() as url:
        (verdict,) = await judged(url, changes, RUBRIC, "long " * 3000, state=state)
    assert verdict.reason is UnknownReason.TOO_LONG
    assert server.bodies == []


@pytest.mark.parametrize("likelihood", [True, False])
async def test_a_rubric_that_fits_beside_no_response_names_judge_row_and_remedy(likelihood: bool) -> None:
    server: Any = Scripted(good) if likelihood else ChatServer(say(completion()))
    changes = {"context_tokens": 600, "max_answer_tokens": 100}
    criteria = Criterion("mentions an animal"), Criterion("never " * 700)
    async with server.serve() as url:
        with pytest.raises(JudgeError) as raised:
            await judged(url, changes, REWARD if likelihood else RUBRIC, "A cat.", *criteria)
    told = str(raised.value)
    assert "judge scripted, row row" in told
    assert "has 703 words, counted as one token each," in told
    assert "context_tokens" in told
    assert "never never" in told
