"""The engine's short cuts (kept prefixes, head only where asked, batches) against a plain pass of each prompt."""

import random
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from components.core.errors import StepError
from components.judge.server.engine import Engine
from components.judge.server.jobs import Job, TokenScore
from components.judge.server.model import Model
from components.judge.server.prefixes import PrefixStore
from components.judge.server.text import Text


def plain(folder: Path, ids: tuple[int, ...]) -> torch.Tensor:
    """Log-probabilities [tokens - 1, vocabulary] by transformers alone, one prompt, no cache."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return torch.log_softmax(model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, :-1], dim=-1)


def numbers(scores: tuple[TokenScore | None, ...]) -> list[float | None]:
    return [None if score is None else score.logprob for score in scores]


def jobs(count: int, dice: random.Random) -> list[Job]:
    """Prompts of all lengths behind prefixes of all lengths, some shared, some with nothing to score."""
    prefixes = [tuple(dice.randrange(1024) for _ in range(size)) for size in (0, 1, 3, 9, 40, 41)]
    found = []
    for _ in range(count):
        prefix = dice.choice(prefixes)
        rest = tuple(dice.randrange(1024) for _ in range(dice.randrange(1, 30)))
        start = dice.choice([None, 0, 1, len(prefix), len(prefix), len(prefix), len(prefix) + len(rest)])
        found.append(Job(prefix + rest, start, top=dice.choice([0, 0, 3])))
    return found


def check(engine: Engine, folder: Path, asked: list[Job]) -> None:
    for job, answer in zip(asked, engine.answer(asked), strict=True):
        assert len(answer.prompt) == len(job.ids)
        first = len(job.ids) if job.score_from is None else max(1, job.score_from)
        assert all(score is None for score in answer.prompt[:first])
        if first >= len(job.ids):
            continue
        truth = plain(folder, job.ids)
        for place in range(first, len(job.ids)):
            score = answer.prompt[place]
            assert score is not None
            assert score.logprob == pytest.approx(float(truth[place - 1, job.ids[place]]), abs=1e-4)
            values, indices = truth[place - 1].topk(job.top) if job.top else ([], [])
            assert [index for index, _ in score.top] == [int(index) for index in indices]
            assert [value for _, value in score.top] == pytest.approx([float(value) for value in values], abs=1e-4)


def test_mixed_batches_equal_the_plain_pass(engine: Engine, model_folder: Path) -> None:
    assert engine.model.reuse
    assert engine.model.plain_head
    dice = random.Random(1)
    check(engine, model_folder, jobs(12, dice))
    # Again, with the prefixes kept from before.
    before = engine.model.prefixes.hits
    check(engine, model_folder, jobs(8, dice))
    assert engine.model.prefixes.hits > before


def test_the_prefix_matters_to_this_model(engine: Engine) -> None:
    """Otherwise the test above could not see a prefix that is ignored or put at a wrong place."""
    rest = (5, 6, 7)
    one, other = engine.answer([Job((1, 2, 3, 4, 9, *rest), 5), Job((1, 2, 3, 9, 4, *rest), 5)])
    gaps = [abs(a - b) for a, b in zip(numbers(one.prompt), numbers(other.prompt), strict=True) if a and b]
    assert min(gaps) > 0.01


def test_without_short_cuts_the_answers_are_the_same(engine: Engine, model_folder: Path) -> None:
    bare = Engine(Model(model_folder, prefix_bytes=0), Text(model_folder), max_batch=3, max_batch_tokens=50)
    assert not bare.model.reuse
    bare.model.plain_head = False
    asked = jobs(10, random.Random(2))
    for one, other in zip(engine.answer(asked), bare.answer(asked), strict=True):
        assert [score is None for score in one.prompt] == [score is None for score in other.prompt]
        pairs = zip(numbers(one.prompt), numbers(other.prompt), strict=True)
        assert all(a == pytest.approx(b, abs=1e-4) for a, b in pairs if a is not None)


def test_equal_prompts_are_computed_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    run = engine.model.run

    def counted(batch: list[tuple[int, ...]], past: object = None) -> object:
        rows.append(len(batch))
        return run(batch, past)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.model, "run", counted)
    job = Job(tuple(range(100, 130)), 20)
    answers = engine.answer([job] * 9)
    assert len(set(answers)) == 1
    assert sum(rows) == 2
    rows.clear()
    engine.answer([job])
    assert rows == [1]


def test_a_prefix_is_computed_once_for_many_prompts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens: list[int] = []
    run = engine.model.run

    def counted(batch: list[tuple[int, ...]], past: object = None) -> object:
        tokens.append(sum(len(row) for row in batch))
        return run(batch, past)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.model, "run", counted)
    prefix = tuple(range(500, 600))
    engine.answer([Job((*prefix, index, index), 100) for index in range(8)])
    # 99 of the prefix once; its last token and the first of the response for each prompt.
    assert sum(tokens) == 99 + 8 * 2


def test_prefix_store_forgets_the_longest_unused() -> None:
    def layers(tokens: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(torch.zeros(1, 1, tokens, 4), torch.zeros(1, 1, tokens, 4))]

    store = PrefixStore(limit=2 * 4 * 4 * 10)
    store.put((1,), layers(4))
    store.put((2,), layers(4))
    assert store.get((1,)) is not None
    store.put((3,), layers(4))
    assert [(key,) in store for key in (1, 2, 3)] == [True, False, True]
    store.put((4,), layers(100))
    assert [(key,) in store for key in (1, 3, 4)] == [False, False, True]
    assert store.get((9,)) is None
    assert (store.hits, store.misses) == (1, 1)


def test_greedy_generation_equals_transformers(engine: Engine, model_folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    prompts = [(5, 6, 7), (900, 2, 3, 4, 5, 6, 7, 8), (11,)]
    asked = [Job(ids, max_tokens=12, ignore_eos=True, top=2) for ids in prompts]
    for ids, answer in zip(prompts, engine.answer(asked), strict=True):
        tensor = torch.tensor([ids])
        whole = model.generate(
            tensor, attention_mask=torch.ones_like(tensor), max_new_tokens=12, min_new_tokens=12, do_sample=False
        )
        # min_new_tokens forbids the end token, which ignore_eos only passes over.
        if 2 not in answer.ids:
            assert answer.ids == tuple(whole[0, len(ids) :].tolist())
        assert (len(answer.ids), answer.finish) == (12, "length")
        truth = plain(model_folder, ids + answer.ids)[len(ids) - 1 :]
        for place, (index, score) in enumerate(zip(answer.ids, answer.scores, strict=True)):
            assert index == int(truth[place].argmax())
            assert score.logprob == pytest.approx(float(truth[place, index]), abs=1e-4)
            assert score.top[0][0] == index


def test_sampling_repeats_with_a_seed_whatever_else_is_in_the_batch(engine: Engine) -> None:
    one = Job((5, 6, 7), max_tokens=8, temperature=1.0, seed=7)
    other = Job((8, 9), max_tokens=8, temperature=1.0, seed=8)
    alone = engine.answer([one])[0]
    assert engine.answer([other, one])[1].ids == alone.ids
    seeds = {engine.answer([Job((5, 6, 7), max_tokens=8, temperature=1.0, seed=seed)])[0].ids for seed in range(6)}
    assert len(seeds) > 1


def test_a_tiny_nucleus_is_greedy(engine: Engine) -> None:
    greedy = engine.answer([Job((5, 6, 7), max_tokens=8, ignore_eos=True)])[0]
    narrow = engine.answer([Job((5, 6, 7), max_tokens=8, temperature=1.0, top_p=1e-6, seed=1, ignore_eos=True)])[0]
    assert narrow.ids == greedy.ids


def test_stop_text_is_cut_off(engine: Engine) -> None:
    whole = engine.answer([Job((5, 6, 7), max_tokens=20, ignore_eos=True)])[0]
    stop = whole.text[6:8]
    cut = engine.answer([Job((5, 6, 7), max_tokens=20, ignore_eos=True, stop=(stop,))])[0]
    assert cut.text == whole.text[: whole.text.index(stop)]
    assert (cut.finish, cut.stop_reason) == ("stop", stop)
    assert len(cut.ids) < len(whole.ids)


def test_a_model_whose_logits_overflow_is_refused(model_folder: Path, tmp_path: Path) -> None:
    """Every weight is a number, and their products are none."""
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32)
    model.model.norm.weight.data.fill_(3e38)
    model.save_pretrained(tmp_path)
    with pytest.raises(StepError, match="logits are NaN or infinite") as caught:
        Model(tmp_path)
    assert caught.value.where == str(tmp_path)
