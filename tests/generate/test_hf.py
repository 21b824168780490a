import warnings

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from components.core.errors import StepError
from components.generate.hf import HfGenerator
from components.generate.sampling import Sampling

PROMPTS = [[{"role": "user", "content": text}] for text in ("string", "wrap the text to a width", "a", "def f(x):")]


@pytest.fixture(scope="module")
def generator(tiny_model):
    return HfGenerator(tiny_model, batch=3, context_tokens=512, threads=1)


def run(generator: HfGenerator, **changes):
    settings = {"max_tokens": 12, "temperature": 0.0, "samples": 1, "seed": 0, **changes}
    return {generation.index: generation for generation in generator.generate(PROMPTS, Sampling(**settings))}


def test_greedy_is_what_transformers_generates_one_by_one(generator, tiny_model):
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    model = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    found = run(generator)
    assert sorted(found) == [0, 1, 2, 3]
    for index, prompt in enumerate(PROMPTS):
        encoded = tokenizer.apply_chat_template(
            prompt, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        whole = model.generate(**encoded, max_new_tokens=12, do_sample=False)[0]
        expected = whole[encoded["input_ids"].shape[1] :]
        assert found[index].responses == (tokenizer.decode(expected, skip_special_tokens=True),)
        assert found[index].response_tokens == (len(expected),)
        assert found[index].finished == (int(expected[-1]) == tokenizer.eos_token_id,)


def test_samples_differ_and_the_seed_repeats_them(generator):
    first, again, other = (run(generator, temperature=1.0, samples=3, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert all(len(generation.responses) == len(generation.finished) == 3 for generation in first.values())
    assert len({text for generation in first.values() for text in generation.responses}) > 6


def test_greedy_ignores_the_seed(generator):
    assert run(generator, seed=1) == run(generator, seed=2)


def test_nothing_is_warned_about(generator, caplog):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(generator)
        run(generator, temperature=0.7)
    assert not caplog.records


def test_a_finished_response_says_so(tiny_model):
    generator = HfGenerator(tiny_model, batch=2, context_tokens=512, threads=1)
    with torch.no_grad():
        # With equal logits everywhere the first token wins: make it the one that ends a text.
        generator._model.lm_head.weight.zero_()
    generator._stop_ids = frozenset({0})
    (first, *_) = run(generator).values()
    assert (first.finished, first.response_tokens, first.responses) == ((True,), (1,), ("",))


def test_a_prompt_without_room_for_its_response_is_refused(tiny_model):
    generator = HfGenerator(tiny_model, batch=2, context_tokens=30, threads=1)
    with pytest.raises(StepError, match="leaves room for 18") as caught:
        run(generator)
    assert "context_tokens" in caught.value.remedy


def test_another_chat_template_replaces_the_models_own(tiny_model):
    template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    plain = HfGenerator(tiny_model, batch=4, context_tokens=512, threads=1, chat_template=template)
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    model = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    encoded = tokenizer(PROMPTS[1][0]["content"], return_tensors="pt", add_special_tokens=False)
    expected = model.generate(
        input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], max_new_tokens=12, do_sample=False
    )
    text = tokenizer.decode(expected[0][encoded["input_ids"].shape[1] :], skip_special_tokens=True)
    assert run(plain)[1].responses == (text,)


def test_a_narrow_nucleus_and_one_token_are_greedy(generator):
    greedy = run(generator)
    assert run(generator, temperature=1.0, top_k=1, seed=5) == greedy
    assert run(generator, temperature=1.0, top_p=1e-9, seed=6) == greedy


def test_bfloat16_is_loaded_when_asked(tiny_model):
    half = HfGenerator(tiny_model, batch=3, context_tokens=512, threads=1, dtype="bfloat16")
    assert half._model.dtype == torch.bfloat16
    assert sorted(run(half)) == [0, 1, 2, 3]
