"""A Kubernetes cluster and judges on it: what cannot be, what it changes of results (nothing), and what is shipped."""

from collections.abc import Callable

import pytest

from components.core.spec import load_experiment
from components.core.spec.load import DEFAULT_CONFIGS
from components.core.spec.single import load_judge

Refused = Callable[..., str]
H800 = ["cluster=h800", "training.micro_batch=4", "judge=qwen3-32b"]
NO_QUEUE = ["cluster.kubernetes.queue=null", "cluster.kubernetes.queue_gpus=null"]
SMALL = "{nodes: 1, cpus: 1, memory_gib: 1}"
POOL = "cluster.kubernetes.pools.h800"


@pytest.mark.parametrize(
    ("key", "words", "overrides"),
    [
        ("cluster.kubernetes.training_pool", "no pool 'a100'", ["cluster.kubernetes.training_pool=a100"]),
        ("cluster.kubernetes.judge_pool", "name one of h800", ["cluster.kubernetes.judge_pool=a100"]),
        ("judge.deployment.pool", "no pool 'a100'", ["judge.deployment.pool=a100"]),
        ("judge.deployment.tensor_parallel", "asks for 16 GPUs", ["judge.deployment.tensor_parallel=16"]),
        ("judge.deployment.cpus", "asks for 113 CPUs", ["judge.deployment.cpus=113"]),
        ("judge.deployment.memory_gib", "asks for 1801 GiB", ["judge.deployment.memory_gib=1801"]),
        ("judge.deployment.min_replicas", "2 is above max_replicas 1", ["judge.deployment.min_replicas=2"]),
        ("judge.deployment.arguments", "--dtype is set from", ["judge.deployment.arguments=['--dtype=half']"]),
        ("judge.deployment.arguments", "--api-key is set", ["judge.deployment.arguments=['--api-key', x]"]),
        ("judge.deployment.arguments", "--api-key is set", ["judge.deployment.arguments=['--api_key=x']"]),
        ("judge.deployment.arguments", "--hf-token is set", ["judge.deployment.arguments=['--hf_token', x]"]),
        ("judge.deployment.arguments", "--max-model is set", ["judge.deployment.arguments=['--max_model', '1']"]),
        ("judge.api_key_env", "never a judge's key", ["judge.api_key_env=AWS_SECRET_ACCESS_KEY"]),
        ("judge.api_key_env", "never a judge's key", ["judge.api_key_env=GAVEL_STATE"]),
        (
            "judge.more_key_envs",
            "KFP_TOKEN holds settings or credentials",
            ["judge.api_key_env=A_KEY", "judge.more_key_envs=[KFP_TOKEN]"],
        ),
        ("judge.deployment.tensor_parallel", "has no GPU", ["judge.deployment.runtime=gavel-cpu"]),
        ("cluster.gpus_per_node", "asks for 4 GPUs, and a node of pool h800 has 2", [f"{POOL}.gpus=2"]),
        (
            "cluster.gpus",
            "24 GPUs take 3 nodes",
            ["cluster.gpus=24", "training.prompts_per_step=24", "training.mini_batch_prompts=24"],
        ),
        ("cluster.cpu_threads", "asks for 113 CPUs", ["cluster.cpu_threads=113"]),
        ("cluster.memory_gib", "asks for 1801 GiB", ["cluster.memory_gib=1801"]),
        ("cluster.kubernetes.shm_gib", "count as memory", ["cluster.kubernetes.shm_gib=256"]),
        ("cluster.kubernetes.priority", "queue is null", [*NO_QUEUE, "cluster.kubernetes.priority=high"]),
        ("cluster.kubernetes.queue_gpus", "queue is null", ["cluster.kubernetes.queue=null"]),
        ("cluster.kubernetes.environment", "set by the step itself", ["cluster.kubernetes.environment.GAVEL_STATE=x"]),
        ("cluster.kubernetes.environment", "no name of a variable", ["cluster.kubernetes.environment={a-b: x}"]),
        ("cluster.kubernetes.namespace", "KServe takes 63", [f"cluster.kubernetes.namespace={'n' * 50}"]),
        ("cluster.kubernetes.pools", "no DNS label", [f"cluster.kubernetes.pools.H_1={SMALL}"]),
        (f"{POOL}.selector", "no label of a node", [f"{POOL}.selector={{'a b': c}}"]),
        (f"{POOL}.tolerations.0.value", "Equal needs a value", [f"{POOL}.tolerations=[{{key: a, operator: Equal}}]"]),
        (f"{POOL}.nodes", "must be at least 1", [f"{POOL}.nodes=0"]),
        (f"{POOL}.nodez", "did you mean nodes", [f"{POOL}.nodez=2"]),
        ("judge.source.kind", "read by our own server alone", ["judge.source={kind: tiny}"]),
    ],
)
def test_a_cluster_that_cannot_be(refused: Refused, key: str, words: str, overrides: list[str]) -> None:
    message = refused(*H800, *overrides)
    assert f"{key}: " in message
    assert words in message


def test_the_limits_beside_them_are_fine() -> None:
    load_experiment("tiny", [*H800, "judge.deployment.tensor_parallel=8", f"{POOL}.gpus=8"])
    load_experiment("tiny", [*H800, "cluster.cpu_threads=112", "cluster.memory_gib=1800", "judge.deployment.cpus=112"])
    # The longest host name that KServe makes: 9 of judge, 11 between, 43 of namespace.
    load_experiment("tiny", [*H800, f"cluster.kubernetes.namespace={'n' * 43}"])


def test_a_local_cluster_has_no_pools(refused: Refused) -> None:
    pools = "{training_pool: a, judge_pool: a, pools: {a: {nodes: 1, cpus: 1, memory_gib: 1}}}"
    assert refused(f"cluster.kubernetes={pools}").startswith("cluster.kubernetes: it has no effect")


def test_a_cluster_without_gpus_serves_small_judges_by_the_cpu_runtime(refused: Refused) -> None:
    dev = ["cluster=dev", "judge.serving=kserve"]
    message = refused(*dev)
    assert "asks for 1 GPUs of one node, and a node of pool node has 0" in message
    assert "deployment.runtime: gavel-cpu" in message
    cpu = load_experiment("tiny", [*dev, "judge.deployment={runtime: gavel-cpu, cpus: 1}"])
    assert (cpu.judge.deployment.gpus, cpu.judge.deployment.needs_gpu) == (0, False)
    assert "judge.serving: embedded is a process of this machine" in refused("cluster=dev")


def test_a_panels_members_are_checked_too(refused: Refused) -> None:
    members = "panel={members: [{use: qwen3-8b, deployment: {pool: a100}}]}"
    assert "panel.members.0.deployment.pool: there is no pool 'a100'" in refused(*H800, members)


def test_nothing_of_it_decides_a_result() -> None:
    plain = load_experiment("tiny", H800)
    other = load_experiment(
        "tiny",
        [
            *H800,
            "judge.deployment={tensor_parallel: 4, runtime: mine, max_replicas: 3, dtype: float16}",
            "cluster.kubernetes.queue=other",
            "cluster.kubernetes.namespace=elsewhere",
            f"{POOL}.nodes=9",
        ],
    )
    for name in ("judge", "rewarding", "training", "generation", "data", "policy", "evaluation"):
        identity = f"{name}_identity"
        assert getattr(plain, identity)() == getattr(other, identity)(), name
    assert "deployment" not in plain.judge.identity()
    assert plain.digest() != other.digest()


def test_a_secret_is_named_and_never_given(refused: Refused) -> None:
    loaded = load_experiment("tiny", [*H800, "cluster.kubernetes.store_secret=mine"])
    assert loaded.cluster.kubernetes is not None
    assert loaded.cluster.kubernetes.store_secret == "mine"
    message = refused(*H800, "cluster.kubernetes.environment.HF_TOKEN=abcdefg")
    assert "a secret has no place in a configuration" in message
    assert "abcdefg" not in message


def test_training_pods_by_hand() -> None:
    cluster = load_experiment("tiny", H800).cluster
    assert (cluster.training_nodes, cluster.pod_gpus) == (1, 4)
    whole = ["cluster.gpus=16", "training.prompts_per_step=16", "training.mini_batch_prompts=16"]
    cluster = load_experiment("tiny", [*H800, *whole]).cluster
    assert (cluster.training_nodes, cluster.pod_gpus) == (2, 8)
    dev = load_experiment("dev_cluster").cluster
    assert (dev.training_nodes, dev.pod_gpus) == (1, 0)


def test_the_shipped_clusters_are_what_is_promised() -> None:
    h800 = load_experiment("tiny", H800).cluster.kubernetes
    assert h800 is not None
    pool = h800.pools["h800"]
    assert (pool.gpus, pool.gpu_memory_gib, h800.queue) == (8, 80, "gavel")
    assert pool.rdma is not None
    assert pool.tolerations
    assert any(name.startswith("NCCL_") for name in h800.environment)
    dev = load_experiment("dev_cluster")
    assert dev.cluster.kubernetes is not None
    assert {pool.gpus for pool in dev.cluster.kubernetes.pools.values()} == {0}
    assert (dev.cluster.accelerator, dev.cluster.kubernetes.queue) == ("cpu", None)


def test_weights_of_every_deployed_judge_are_pinned() -> None:
    for path in (DEFAULT_CONFIGS / "judges").glob("*.yaml"):
        judge = load_judge(path.stem)
        if judge.serving == "kserve":
            assert judge.source is not None
            assert judge.source.kind == "hub"
            assert len(judge.source.revision) == 40, path
            int(judge.source.revision, 16)


@pytest.mark.parametrize("uri", ["s3://gavel/runs/a/model", "file:///mnt/models/a"])
def test_a_model_of_a_store(uri: str) -> None:
    loaded = load_experiment("tiny", [f"policy.source={{kind: uri, uri: '{uri}'}}"])
    assert loaded.policy.source.identity() == {"kind": "uri", "uri": uri}
    known = f"policy.source={{kind: uri, uri: '{uri}', sha256: {'a' * 64}}}"
    moved = f"policy.source={{kind: uri, uri: 's3://other/place', sha256: {'a' * 64}}}"
    one, two = load_experiment("tiny", [known]), load_experiment("tiny", [moved])
    assert one.policy_identity() == two.policy_identity()
    assert one.digest() == two.digest()


@pytest.mark.parametrize(
    "uri", ["s3://gavel", "s3://GAVEL/a", "http://a/b", "/mnt/a", "file://host/a", "s3://gavel/a b"]
)
def test_what_is_no_url_of_a_store(refused: Refused, uri: str) -> None:
    assert refused(f"policy.source={{kind: uri, uri: '{uri}'}}").startswith("policy.source.uri: ")
