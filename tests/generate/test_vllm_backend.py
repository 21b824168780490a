"""The vLLM back end against a stand-in with the signatures of vLLM 0.24 (LLM, SamplingParams, RequestOutput)."""

import dataclasses
import shutil
import sys
import types
from typing import ClassVar

import pytest
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from components.core.errors import StepError
from components.core.spec import load_experiment
from components.generate.backend import chunk_size, open_engine, open_generator
from components.generate.engine import GPU_CHUNK, Engine
from components.generate.hf import HfGenerator
from components.generate.sampling import Sampling
from components.generate.vllm_backend import prompt_seed

PROMPTS = [[{"role": "user", "content": text}] for text in ("string", "wrap the text")]
GPU = (
    "cluster.accelerator=gpu",
    "cluster.gpus=2",
    "cluster.gpus_per_node=2",
    "cluster.tensor_parallel=2",
    "training.micro_batch=8",
)


@dataclasses.dataclass
class SamplingParams:
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    max_tokens: int | None = 16


class LLM:
    made: ClassVar[list["LLM"]] = []

    def __init__(
        self,
        model: str,
        *,
        dtype="auto",
        tensor_parallel_size=1,
        seed=0,
        gpu_memory_utilization=0.92,
        max_model_len=None,
        max_num_seqs=None,
    ) -> None:
        self.settings = (model, dtype, tensor_parallel_size, seed, max_model_len)
        self.memory = (gpu_memory_utilization, max_num_seqs)
        self.calls: list = []
        LLM.made.append(self)

    def get_tokenizer(self):
        return AutoTokenizer.from_pretrained(self.settings[0])

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True):
        self.calls.append((prompts, sampling_params, use_tqdm))
        completion = lambda index, params: types.SimpleNamespace(  # noqa: E731
            index=index, text=f"text {index}", token_ids=[5, 6], finish_reason=("stop", "length")[index]
        )
        return [
            types.SimpleNamespace(outputs=[completion(index, params) for index in reversed(range(params.n))])
            for params in sampling_params
        ]


@pytest.fixture
def vllm(monkeypatch):
    module = types.ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.delenv("VLLM_WORKER_MULTIPROC_METHOD", raising=False)
    LLM.made.clear()


def test_a_gpu_cluster_generates_with_vllm(vllm, tiny_model):
    experiment = load_experiment("tiny", GPU)
    generator = open_generator(experiment, tiny_model)
    found = list(generator.generate(PROMPTS, Sampling(max_tokens=9, temperature=0.5, samples=2, seed=4)))
    (engine,) = LLM.made
    assert engine.settings == (
        str(tiny_model),
        experiment.policy.dtype,
        2,
        experiment.seed,
        experiment.policy.context_tokens,
    )
    assert engine.memory == (experiment.cluster.gpu_memory_share, None)
    ((prompts, params, use_tqdm),) = engine.calls
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    for given, prompt in zip(prompts, PROMPTS, strict=True):
        encoded = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=True)
        assert given == {"prompt_token_ids": encoded["input_ids"]}
    assert use_tqdm is False
    assert [(one.n, one.max_tokens, one.temperature, one.top_p, one.top_k) for one in params] == [
        (2, 9, 0.5, 1.0, 0)
    ] * 2
    assert len({one.seed for one in params}) == 2
    assert [(one.index, one.responses, one.finished, one.response_tokens) for one in found] == [
        (0, ("text 0", "text 1"), (True, False), (2, 2)),
        (1, ("text 0", "text 1"), (True, False), (2, 2)),
    ]
    generator.close()
    assert not hasattr(generator, "_engine")


def test_greedy_has_no_seed(vllm, tiny_model):
    generator = open_generator(load_experiment("tiny", GPU), tiny_model)
    list(generator.generate(PROMPTS, Sampling(max_tokens=9, seed=4)))
    assert [one.seed for one in LLM.made[0].calls[0][1]] == [None, None]


def test_a_prompts_seed_follows_the_prompt_and_not_its_place():
    assert prompt_seed(1, [1, 2]) == prompt_seed(1, [1, 2])
    assert len({prompt_seed(1, [1, 2]), prompt_seed(1, [1, 3]), prompt_seed(2, [1, 2])}) == 3
    assert 0 <= prompt_seed(1, [1]) < 2**32


def test_the_cluster_chooses_the_back_end(tiny_model):
    cpu = load_experiment("tiny")
    assert isinstance(open_generator(cpu, tiny_model), HfGenerator)
    assert chunk_size(cpu) == cpu.evaluation.batch
    assert chunk_size(load_experiment("tiny", GPU)) == GPU_CHUNK


def test_missing_vllm_says_what_to_do(monkeypatch, tiny_model):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(StepError, match="vLLM, which cannot be imported") as caught:
        open_generator(load_experiment("tiny", GPU), tiny_model)
    assert "cluster.accelerator=cpu" in caught.value.remedy


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(StepError, match="no model") as caught:
        open_generator(load_experiment("tiny"), tmp_path)
    assert caught.value.where == str(tmp_path)


def test_the_knobs_of_a_command_reach_the_engine(vllm, tiny_model):
    engine = Engine("vllm", "bfloat16", 640, batch=48, tensor_parallel=2, gpu_memory_share=0.5)
    generator = open_engine(engine, tiny_model)
    list(generator.generate(PROMPTS, Sampling(max_tokens=9, temperature=0.7, top_p=0.8, top_k=20)))
    assert LLM.made[0].settings == (str(tiny_model), "bfloat16", 2, 0, 640)
    assert LLM.made[0].memory == (0.5, 48)
    assert [(one.top_p, one.top_k) for one in LLM.made[0].calls[0][1]] == [(0.8, 20)] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda all_: {n: t for n, t in all_.items() if ".mlp." not in n}, "missing: 6 tensors"),
        (lambda all_: {n: t * float("inf") for n, t in all_.items()}, "hold NaN or infinite weights"),
        (lambda _: None, "is a file of 0 bytes"),
    ],
)
def test_a_model_that_is_not_whole_starts_no_engine(vllm, tiny_model, tmp_path, change, words):
    folder = shutil.copytree(tiny_model, tmp_path / "m")
    changed = change(load_file(folder / "model.safetensors"))
    # The weights read before are a map of the file, which must not change under them.
    (folder / "model.safetensors").unlink()
    if changed is None:
        (folder / "model.safetensors").touch()
    else:
        save_file(changed, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(StepError, match=words):
        open_generator(load_experiment("tiny", GPU), folder)
    assert not LLM.made
