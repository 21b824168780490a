"""The decoding loop against transformers' own ``generate``, and its sampling against the closed form."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from components.core.errors import StepError
from components.core.spec.source import TinySource
from components.models import growing_cache as growing_cache_module
from components.models.decode import decode, sample
from components.models.grouped_attention import NAME as GROUPED
from components.models.grouped_attention import attend
from components.models.growing_cache import GrowingLayer, growing_cache
from components.models.materialize import materialize

PROMPTS = ["Write one sentence.", "for key in", "def wrap(text, width=70):", "a"]


@pytest.fixture(scope="module", params=["sdpa", GROUPED])
def tiny(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest):
    folder = materialize(TinySource(kind="tiny", seed=3), tmp_path_factory.mktemp("cache"))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation=request.param).eval()
    return model, AutoTokenizer.from_pretrained(folder)


def test_greedy_equals_generate_one_prompt_at_a_time(tiny):
    model, tokenizer = tiny
    prompts = [tokenizer(text)["input_ids"] for text in PROMPTS]
    assert len({len(prompt) for prompt in prompts}) > 1
    stop = frozenset([tokenizer.eos_token_id])
    ours = decode(model, prompts, max_tokens=20, stop_ids=stop, pad_id=tokenizer.pad_token_id)
    for prompt, decoded in zip(prompts, ours, strict=True):
        ids = torch.tensor([prompt])
        with torch.inference_mode():
            theirs = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=20,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id,
            )
        assert decoded.token_ids == theirs[0, len(prompt) :].tolist()


def test_a_prompt_that_rows_share_is_read_once_and_answered_by_each(tiny):
    model, tokenizer = tiny
    first, second = (tokenizer(text)["input_ids"] for text in PROMPTS[:2])
    rows: list[tuple[int, ...]] = []
    handle = model.register_forward_pre_hook(
        lambda _module, _arguments, named: rows.append(tuple(named["input_ids"].shape)), with_kwargs=True
    )
    prompts = [second, first, second, first, first]
    try:
        ours = decode(model, prompts, max_tokens=5, stop_ids=frozenset(), pad_id=0)
        drawn = decode(
            model, prompts, max_tokens=12, stop_ids=frozenset(), pad_id=0, temperature=1.0,
            generator=torch.Generator().manual_seed(3),
        )  # fmt: skip
    finally:
        handle.remove()
    assert rows[:2] == [(2, max(len(first), len(second))), (5, 1)]
    alone = [decode(model, [prompt], max_tokens=5, stop_ids=frozenset(), pad_id=0)[0].token_ids for prompt in prompts]
    assert [each.token_ids for each in ours] == alone
    assert alone[0] != alone[1]
    # Each draws for itself: five rows of twelve tokens from a vocabulary of hundreds hardly agree.
    assert len({tuple(each.token_ids) for each in drawn}) == 5


@pytest.mark.parametrize("room", [0, 1, 3])
def test_a_cache_with_room_holds_what_transformers_holds(tiny, monkeypatch, room):
    monkeypatch.setattr(growing_cache_module, "_ROOM", room)
    model, tokenizer = tiny
    ids = torch.tensor([tokenizer(PROMPTS[2])["input_ids"]])
    ours, theirs = growing_cache(model.config), DynamicCache(config=model.config)
    assert {type(layer) for layer in ours.layers} == {GrowingLayer}
    with torch.inference_mode():
        for cache in (ours, theirs):
            model(input_ids=ids, past_key_values=cache, use_cache=True)
            cache.batch_select_indices(torch.tensor([0, 0, 0]))
            for token in range(7, 12):
                model(input_ids=torch.tensor([[token], [token + 9], [3]]), past_key_values=cache, use_cache=True)
                if token == 9:
                    cache.batch_select_indices(torch.tensor([2, 0, 1]))
    assert ours.get_seq_length() == theirs.get_seq_length() == ids.shape[1] + 5
    for mine, other in zip(ours.layers, theirs.layers, strict=True):
        torch.testing.assert_close(mine.keys, other.keys)
        torch.testing.assert_close(mine.values, other.values)


@pytest.mark.parametrize("groups", [1, 3, 9])
def test_heads_that_share_keys_attend_as_transformers_says(groups):
    random = torch.Generator().manual_seed(groups)
    query = torch.randn(2, 9, 1, 16, generator=random)
    key, value = (torch.randn(2, groups, 11, 16, generator=random) for _ in range(2))
    mask = torch.ones(2, 1, 1, 11, dtype=torch.bool)
    mask[1, ..., :4] = False
    module = torch.nn.Module()
    module.num_key_value_groups = 9 // groups
    ours, _ = attend(module, query, key, value, mask, scaling=0.2)
    theirs, _ = sdpa_attention_forward(module, query, key, value, mask, scaling=0.2)
    torch.testing.assert_close(ours, theirs)
    # By hand: the last head of the padded row.
    weights = (query[1, 8, 0] @ key[1, -1, 4:].T * 0.2).softmax(-1)
    torch.testing.assert_close(ours[1, 0, 8], weights @ value[1, -1, 4:])


def test_log_probs_are_those_of_a_plain_forward_pass(tiny):
    model, tokenizer = tiny
    prompts = [tokenizer(text)["input_ids"] for text in PROMPTS]
    generator = torch.Generator().manual_seed(5)
    decoded = decode(
        model, prompts, max_tokens=12, stop_ids=frozenset(), pad_id=0, temperature=1.0, generator=generator
    )
    for prompt, result in zip(prompts, decoded, strict=True):
        with torch.inference_mode():
            logits = model(torch.tensor([prompt + result.token_ids])).logits[0].float()
        expected = logits.log_softmax(-1)[len(prompt) - 1 : -1].gather(-1, torch.tensor(result.token_ids)[:, None])[
            :, 0
        ]
        assert result.log_probs == pytest.approx(expected.tolist(), abs=1e-4)


def test_a_finished_row_leaves_the_others_as_they_are(tiny):
    model, tokenizer = tiny
    prompts = [tokenizer(text)["input_ids"] for text in PROMPTS]
    free = decode(model, prompts, max_tokens=10, stop_ids=frozenset(), pad_id=0)
    stop = free[0].token_ids[2]
    stopped = decode(model, prompts, max_tokens=10, stop_ids=frozenset([stop]), pad_id=0)
    for before, after in zip(free, stopped, strict=True):
        cut = before.token_ids.index(stop) + 1 if stop in before.token_ids else len(before.token_ids)
        assert after.token_ids == before.token_ids[:cut]
        assert after.finished == (stop in before.token_ids)


def test_sampling_follows_the_softmax():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]])).repeat(40_000, 1)
    chosen, log_probs = sample(logits, 1.0, 1.0, 0, torch.Generator().manual_seed(0))
    shares = torch.bincount(chosen, minlength=4) / len(chosen)
    assert shares.tolist() == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.01)
    assert log_probs[chosen == 1][0].item() == pytest.approx(math.log(0.3), abs=1e-5)


def test_top_p_keeps_the_smallest_set_that_reaches_the_mass():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]])).repeat(5_000, 1)
    chosen, log_probs = sample(logits, 1.0, 0.75, 0, torch.Generator().manual_seed(0))
    assert set(chosen.tolist()) == {0, 1}
    assert log_probs[chosen == 0][0].item() == pytest.approx(math.log(0.5 / 0.8), abs=1e-5)


def test_top_k_keeps_k_tokens():
    logits = torch.tensor([[1.0, 3.0, 2.0, 0.0]]).repeat(2_000, 1)
    chosen, _ = sample(logits, 1.0, 1.0, 2, torch.Generator().manual_seed(0))
    assert set(chosen.tolist()) == {1, 2}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-20, 20, width=32), min_size=2, max_size=8), st.floats(0.1, 3.0), st.integers(0, 2**31))
def test_a_draw_has_the_probability_it_reports(logits: list[float], temperature: float, seed: int):
    row = torch.tensor([logits])
    chosen, log_probs = sample(row, temperature, 1.0, 0, torch.Generator().manual_seed(seed))
    expected = (row.double() / temperature).softmax(-1)[0, chosen[0]].log().item()
    assert log_probs[0].item() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("bad", ["nan", "inf", "all -inf"])
@pytest.mark.parametrize("how", [{}, {"temperature": 0.7}, {"temperature": 1.0, "top_p": 0.9, "top_k": 20}])
def test_logits_that_are_no_numbers_give_no_text(tiny, bad, how):
    model, tokenizer = tiny
    prompts = [tokenizer(text)["input_ids"] for text in PROMPTS]
    calls = []

    def spoil(_module, _arguments, output):
        calls.append(1)
        if len(calls) == 3:
            output.logits[1, -1, ... if bad == "all -inf" else 5] = -math.inf if bad == "all -inf" else float(bad)
        return output

    handle = model.register_forward_hook(spoil)
    try:
        with pytest.raises(StepError, match="logits are NaN or infinite") as caught:
            decode(model, prompts, max_tokens=5, stop_ids=frozenset(), pad_id=0, **how)
    finally:
        handle.remove()
    assert len(calls) == 3
    assert caught.value.where == model.name_or_path
