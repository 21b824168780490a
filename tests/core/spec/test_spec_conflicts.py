"""Values that cannot go together. Each case changes the good tiny experiment; the limits beside them must load."""

from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.spec.load import load_experiment

GPU = ("cluster=local-gpu", "cluster.gpus_per_node=8")
S3 = "{kind: s3, endpoint: 'http://127.0.0.1:9000', bucket: gavel}"
EXTERNAL = "judge={use: external-example, endpoint: 'http://judge.ns.svc:8000'}"
CASES = [
    # key, offending words, overrides
    (
        "training.rollouts_per_prompt",
        "1 response a prompt has no group",
        ["training.rollouts_per_prompt=1", "training.micro_batch=4"],
    ),
    ("training.mini_batch_prompts", "3 does not divide prompts_per_step 4", ["training.mini_batch_prompts=3"]),
    ("training.mini_batch_prompts", "8 does not divide prompts_per_step 4", ["training.mini_batch_prompts=8"]),
    ("training.micro_batch", "5 does not divide the 16 rollouts", ["training.micro_batch=5"]),
    ("training.micro_batch", "16 does not divide the 8 rollouts", ["training.mini_batch_prompts=2"]),
    ("training.top_k", "0 keeps no token", ["training.top_k=0"]),
    ("training.stall_minutes", "21.0 is above deadline_minutes 20.0", ["training.stall_minutes=21"]),
    ("policy.context_tokens", "79 is smaller than", ["policy.context_tokens=79", "evaluation.max_response_tokens=8"]),
    (
        "evaluation.max_response_tokens",
        "smaller than",
        ["policy.context_tokens=80", "evaluation.max_response_tokens=17"],
    ),
    ("judge.context_tokens", "16 leaves no room", ["judge.context_tokens=16"]),
    ("judge.logprobs", "likelihood_ratio", ["judge.logprobs=false"]),
    (
        "data.train_templates",
        "topic is 'the weather'",
        ["data.topic=the weather", "data.heldout_templates=heldout_templates_topic.txt"],
    ),
    ("judge.endpoint", "endpoint is null", ["judge.serving=external"]),
    ("judge.endpoint", "for serving external only", ["judge.endpoint=http://127.0.0.1:8000"]),
    ("judge.source", "source is null", ["judge.source=null"]),
    ("judge.port", "no effect", ["judge=external-example", "judge.port=8000"]),
    ("judge.serving", "embedded", ["cluster=h800", "training.micro_batch=4"]),
    (
        "cluster.kubernetes",
        "needs its node pools",
        [*GPU, "cluster.placement=kubernetes", f"cluster.store={S3}", "training.micro_batch=1", EXTERNAL],
    ),
    ("judge.serving", "kserve needs a Kubernetes cluster", ["judge=qwen3-32b"]),
    ("data.train_rows", "3 rows do not fill one step", ["data.train_rows=3"]),
    ("data.criteria", "nothing to judge", ["data.criteria=[]"]),
    ("data.criteria", "positive points", ["data.criteria.0.points=-1"]),
    ("data.criteria.0.rule", "needs a rule", ["data.criteria.0.verifier=rule"]),
    ("data.criteria.0.points", "0 points decide nothing", ["data.criteria.0.points=0"]),
    ("data.criteria.1.text", "says the same as criterion 0", ["data.criteria=[{text: be kind}, {text: ' Be kind'}]"]),
    ("data.gold.min_words", "41 is above max_words 40", ["data.gold.min_words=41"]),
    ("data.gold.word_list", "null", ["data.gold.word_list=null"]),
    ("data.heldout_templates", "also train_templates", ["data.heldout_templates=train_templates.txt"]),
    ("data.heldout_subjects", "also train_subjects", ["data.heldout_subjects=subjects_train.txt"]),
    ("data.path", "path is null", ["data.kind=jsonl"]),
    ("evaluation.samples", "all the same", ["evaluation.samples=2", "evaluation.temperature=0.0"]),
    ("cluster.gpus", "accelerator cpu uses none of 2 GPUs", ["cluster.gpus=2"]),
    ("cluster.gpus", "needs at least one", ["cluster.accelerator=gpu"]),
    ("cluster.tensor_parallel", "a CPU run has one copy", ["cluster.tensor_parallel=2"]),
    ("cluster.gpus_per_node", "0, but accelerator is gpu", ["cluster.accelerator=gpu", "cluster.gpus=1"]),
    ("cluster.gpus", "this machine has gpus_per_node 8", [*GPU, "cluster.gpus=16", "training.micro_batch=1"]),
    (
        "cluster.tensor_parallel",
        "4 is above gpus 2",
        [*GPU, "cluster.gpus=2", "cluster.tensor_parallel=4", "training.micro_batch=8"],
    ),
    (
        "cluster.tensor_parallel",
        "3 does not divide gpus 4",
        [*GPU, "cluster.gpus=4", "cluster.tensor_parallel=3", "training.micro_batch=4"],
    ),
    ("training.prompts_per_step", "shared evenly by cluster.gpus 3", [*GPU, "cluster.gpus=3"]),
    (
        "training.mini_batch_prompts",
        "shared evenly by cluster.gpus 8",
        [*GPU, "cluster.gpus=8", "training.mini_batch_prompts=1"],
    ),
    (
        "training.micro_batch",
        "16 does not divide the 8 rollouts of one update on each of 2 GPUs",
        [*GPU, "cluster.gpus=2"],
    ),
    ("cluster.store.endpoint", "kind s3 needs it", ["cluster.store={kind: s3, bucket: gavel}"]),
    ("cluster.store.bucket", "kind s3 needs it", ["cluster.store={kind: s3, endpoint: 'http://h:1'}"]),
    ("cluster.store.endpoint", "not an http", ["cluster.store={kind: s3, bucket: gavel, endpoint: 'h:1'}"]),
    ("cluster.store.url", "not in bucket", [f"cluster.store={S3}", "cluster.store.url=s3://other/a"]),
    ("cluster.store.url", "not a file:/// URL", ["cluster.store.url=results"]),
    ("cluster.store.url", "no URL of yours", ["cluster=local-cpu", "cluster.store.url=file:///a"]),
    ("cluster.store.bucket", "a folder has no bucket", ["cluster.store.bucket=gavel"]),
    ("cluster.store.endpoint", "no endpoint of yours", ["cluster.store.endpoint=http://h:1"]),
]


@pytest.mark.parametrize(("key", "words", "overrides"), CASES)
def test_impossible_combination(refused: Callable[..., str], key: str, words: str, overrides: list[str]) -> None:
    message = refused(*overrides)
    headline, where, remedy = message.split("\n")
    assert headline.startswith(f"{key}: "), message
    assert words in headline
    assert where.strip().startswith("where:  ")
    assert len(where.split("where:")[1].strip()) > 3
    assert len(remedy.split("remedy:")[1].strip()) > 3


@pytest.mark.parametrize(
    "overrides",
    [
        ["policy.context_tokens=80"],
        ["judge.context_tokens=17"],
        ["training.micro_batch=8"],
        ["training.mini_batch_prompts=2", "training.micro_batch=8"],
        ["training.rollouts_per_prompt=2", "training.micro_batch=4"],
        ["data.train_rows=4"],
        ["data.gold.min_words=40"],
        ["evaluation.samples=2", "evaluation.temperature=0.7"],
        ["training.stall_minutes=20"],
        [*GPU, "cluster.gpus=4", "cluster.tensor_parallel=4", "training.micro_batch=4"],
        [f"cluster.store={S3}", "cluster.store.url=s3://gavel/deep/prefix"],
        ["judge=external-example", "judge.endpoint=https://host:1234/openai"],
    ],
)
def test_the_limit_itself_is_allowed(overrides: list[str]) -> None:
    load_experiment("tiny", overrides)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://h/", "http://", "http://h:99999", "http://h/v1", "http://h/?a=1", "http://h /x"]
)
def test_an_endpoint_is_a_base_url(refused: Callable[..., str], url: str) -> None:
    message = refused("judge=external-example", f"judge.endpoint='{url}'")
    assert message.startswith("judge.endpoint: ")
    assert "without /v1" in message


def test_whole_nodes(refused: Callable[..., str]) -> None:
    base = ["judge=qwen3-32b", "cluster=h800", "cluster.tensor_parallel=1"]
    batch = ["training.prompts_per_step=12", "training.mini_batch_prompts=12", "training.micro_batch=1"]
    message = refused(*base, *batch, "cluster.gpus=12")
    assert "12 GPUs do not fill whole nodes of gpus_per_node 8" in message
    assert load_experiment("tiny", [*base, *batch, "cluster.gpus=16"]).cluster.gpus == 16


def test_a_cluster_needs_a_store_that_its_pods_share(refused: Callable[..., str]) -> None:
    message = refused("judge=qwen3-32b", "cluster=h800", "training.micro_batch=4", "cluster.store={kind: folder}")
    assert message.startswith("cluster.store.kind: folder lies on one machine")


@pytest.mark.parametrize(
    ("parameters", "extra", "fits"),
    [
        # By hand: fp32 weights, gradient, two moments and the copy that generates make 20 bytes a weight; 2**30 weights
        # need 20 GiB. bf16 generates with 2 bytes: 18. KL keeps one more fp32 copy: 24. LoRA trains no weight: 8.
        (2**30, ["cluster.memory_gib=20"], True),
        (2**30, ["cluster.memory_gib=19.9"], False),
        (2**30, ["cluster.memory_gib=18", "policy.dtype=bfloat16"], True),
        (2**30, ["cluster.memory_gib=17.9", "policy.dtype=bfloat16"], False),
        (2**30, ["cluster.memory_gib=24", "training.kl_coefficient=0.01"], True),
        (2**30, ["cluster.memory_gib=23.9", "training.kl_coefficient=0.01"], False),
        (2**30, ["cluster.memory_gib=8", "training.lora={}"], True),
        (2**30, ["cluster.memory_gib=7.9", "training.lora={}"], False),
    ],
)
def test_weights_must_fit_into_memory(
    refused: Callable[..., str], parameters: int, extra: list[str], fits: bool
) -> None:
    overrides = [f"policy.parameters={parameters}", *extra]
    if fits:
        load_experiment("tiny", overrides)
    else:
        assert refused(*overrides).startswith("policy.parameters: ")


def test_a_conflict_in_one_part_does_not_hide_one_between_parts(refused: Callable[..., str]) -> None:
    message = refused("training.rollouts_per_prompt=1", "training.micro_batch=4", "data.train_rows=2")
    assert "training.rollouts_per_prompt" in message
    assert "data.train_rows" in message


def test_pods_reach_neither_this_machine_nor_its_files(refused: Callable[..., str], tmp_path: Path) -> None:
    cluster = ["cluster=h800", "training.micro_batch=4", "judge=external-example"]
    reachable = "judge.endpoint=http://judge.gavel.svc:8000"
    assert refused(*cluster).startswith("judge.endpoint: 'http://127.0.0.1:8000' is this machine")
    assert refused(*cluster, "judge.endpoint=http://localhost:1").startswith("judge.endpoint: ")
    load_experiment("tiny", [*cluster, reachable])
    rows = tmp_path / "rows.jsonl"
    rows.write_text("{}", encoding="utf-8")
    message = refused(*cluster, reachable, "data.kind=jsonl", f"data.path={rows}")
    assert message.startswith(f"data.path: '{rows}' lies on this machine")
    load_experiment("tiny", [*cluster, reachable, "data.kind=jsonl", "data.path=s3://gavel/rows.jsonl"])
