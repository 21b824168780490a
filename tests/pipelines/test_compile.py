"""The compiled pipelines, read as a cluster reads them."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from kfp_double import parse_package

from components.core.errors import ConfigError
from pipelines.catalogue import load_cluster
from pipelines.compile import compile_pipelines
from pipelines.needs import NEEDS
from pipelines.placing import TITLES

DIGEST = "sha256:" + "0" * 64
IMAGES = {name: f"registry.test/gavel/{name}@{DIGEST}" for name in ("tools", "trainer", "evaluation")}
DURABLE = {"prepare-data", "train-grpo", "merge-checkpoint", "generate", "score", "generate-ifeval", "ifeval"}
ALWAYS = {"deploy-judge", "probe-judge", "teardown-judge", "resolve", "report"}
SECRET_ENV = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        for name, image in IMAGES.items():
            patch.setenv(f"GAVEL_IMAGE_{name.upper()}", image)
        paths = compile_pipelines(tmp_path_factory.mktemp("build"), load_cluster("h800"), further_keys=["MY_KEY"])
    assert [path.name for path in paths] == [
        f"{name}.yaml"
        for name in (
            *("judged-grpo", "evaluate", "mixed-baseline", "evaluate-tasks"),
            *("workflow-rl", "evaluate-workflows", "judge-study"),
        )
    ]
    return {path.stem: path.read_text() for path in paths}


def read(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    spec, platform = yaml.safe_load_all(text)
    return spec, platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]


@pytest.fixture(scope="module")
def spec(texts: dict[str, str]) -> dict[str, Any]:
    return read(texts["judged-grpo"])[0]


@pytest.fixture(scope="module")
def platform(texts: dict[str, str]) -> dict[str, Any]:
    return read(texts["judged-grpo"])[1]


def all_tasks(spec: dict[str, Any]) -> dict[str, Any]:
    found = dict(spec["root"]["dag"]["tasks"])
    for component in spec["components"].values():
        found |= component.get("dag", {}).get("tasks", {})
    return found


def container(spec: dict[str, Any], task: str) -> dict[str, Any]:
    found: dict[str, Any] = spec["deploymentSpec"]["executors"][f"exec-{task}"]["container"]
    return found


def environment(spec: dict[str, Any], task: str) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container(spec, task)["env"]}


def secrets(executor: dict[str, Any]) -> dict[str, tuple[set[str], bool]]:
    return {
        entry["secretNameParameter"]["runtimeValue"]["constant"]: (
            {key["envVar"] for key in entry["keyToEnv"]},
            entry["optional"],
        )
        for entry in executor["secretAsEnv"]
    }


def test_kfps_own_loader_takes_them(texts, tmp_path):
    from kfp import components

    for name, text in texts.items():
        parse_package(text)
        loaded = components.load_component_from_text(text)
        assert loaded.pipeline_spec.pipeline_info.name == name
        assert loaded.platform_spec.platforms.keys() == {"kubernetes"}


def test_the_steps_are_all_there(spec):
    executed = {name for name, task in all_tasks(spec).items() if name in DURABLE | ALWAYS}
    assert executed == DURABLE | ALWAYS
    assert NEEDS.keys() == TITLES.keys()


def test_steps_that_act_on_the_world_are_never_cached_and_the_others_are(spec):
    for name, task in all_tasks(spec).items():
        cached = task.get("cachingOptions", {}).get("enableCache", False)
        if name in ALWAYS:
            assert not cached, name
        elif name in DURABLE:
            assert cached, name


def test_the_judge_is_torn_down_whatever_happens(spec):
    task = spec["root"]["dag"]["tasks"]["teardown-judge"]
    assert task["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    # It gets the run's own parameters, since nothing else may exist when it runs.
    for name, source in task["inputs"]["parameters"].items():
        assert source == {"componentInputParameter": name}


def test_parameters_are_text_and_only_the_experiment_is_required(spec):
    parameters = spec["root"]["inputDefinitions"]["parameters"]
    assert set(parameters) == {"experiment", "judge", "seed", "start_from", "store", "code_version"}
    assert {entry["parameterType"] for entry in parameters.values()} == {"STRING"}
    assert [name for name, entry in parameters.items() if "defaultValue" not in entry] == ["experiment"]


def test_everything_is_looked_up_once_and_typed(spec):
    outputs = spec["components"]["comp-resolve"]["outputDefinitions"]["parameters"]
    assert {name: entry["parameterType"] for name, entry in outputs.items()} == {
        "experiment": "STRING",
        "store": "STRING",
        "ifeval": "BOOLEAN",
        "base": "BOOLEAN",
        "judged": "BOOLEAN",
    }
    for name in DURABLE - {"generate-ifeval", "ifeval"}:
        source = all_tasks(spec)[name]["inputs"]["parameters"]["experiment"]
        assert source == {"taskOutputParameter": {"outputParameterKey": "experiment", "producerTask": "resolve"}}


def test_artifacts_are_typed(spec):
    def kinds(name: str) -> dict[str, str]:
        artifacts = spec["components"][f"comp-{name}"]["outputDefinitions"]["artifacts"]
        return {key: entry["artifactType"]["schemaTitle"] for key, entry in artifacts.items()}

    assert kinds("prepare-data") == {"data": "system.Dataset"}
    assert kinds("train-grpo") == {"training": "system.Model", "metrics": "system.Metrics"}
    assert kinds("merge-checkpoint") == {"model": "system.Model"}
    assert kinds("score") == {"scores": "system.Dataset", "metrics": "system.Metrics"}
    assert kinds("report") == {"html": "system.HTML"}


def test_training_waits_for_the_probe_and_takes_no_endpoint(spec):
    train = all_tasks(spec)["train-grpo"]
    assert set(train["dependentTasks"]) == {"prepare-data", "probe-judge", "resolve"}
    parameters = train["inputs"]["parameters"]
    assert set(parameters) == {"experiment", "store", "code_version"}


def test_no_secret_and_no_latest_tag(texts):
    for text in texts.values():
        assert not re.search(r"s" r"k-[A-Za-z0-9]{8,}", text)
        assert ":latest" not in text
        for name in (*SECRET_ENV, "MY_KEY"):
            # Names of keys alone, and never one with a value.
            assert re.findall(rf"{name}: *\S", text) == []
            assert not re.search(rf"name: {name}\b", text)


def test_every_image_is_a_digest(texts):
    for text in texts.values():
        images = re.findall(r"^ +image: (.*)$", text, re.MULTILINE)
        assert len(images) >= 5
        assert set(images) <= set(IMAGES.values())


def test_retries_are_on_each_task_itself(spec):
    # Some back ends do not see those of tasks inside a loop (kfp#12389); these graphs have no loop.
    assert "iterator" not in str(spec["root"]).lower()
    for name, task in all_tasks(spec).items():
        if name in DURABLE | ALWAYS:
            assert task["retryPolicy"]["maxRetryCount"] >= 2, name
            assert task["retryPolicy"]["backoffDuration"] == "30s"
    assert all_tasks(spec)["train-grpo"]["retryPolicy"]["maxRetryCount"] == 5


def test_light_steps_are_small_and_gpus_are_where_the_policy_answers(spec, platform):
    cluster = load_cluster("h800")
    for name in ("resolve", "deploy-judge", "probe-judge", "teardown-judge", "train-grpo"):
        assert float(container(spec, name)["resources"]["resourceCpuRequest"]) <= 1
        assert "accelerator" not in container(spec, name)["resources"]
        assert "nodeSelector" not in platform[f"exec-{name}"]
    for name in ("generate", "generate-ifeval"):
        accelerator = container(spec, name)["resources"]["accelerator"]
        assert accelerator["resourceType"] == "nvidia.com/gpu"
        assert accelerator["resourceCount"] == str(cluster.tensor_parallel)
        assert platform[f"exec-{name}"]["nodeSelector"]["labels"] == {"gavel.dev/pool": "h800"}
        assert platform[f"exec-{name}"]["tolerations"][0]["key"] == "nvidia.com/gpu"
        mounts = {mount["mountPath"]: mount for mount in platform[f"exec-{name}"]["emptyDirMounts"]}
        assert mounts["/dev/shm"]["medium"] == "Memory"
    assert container(spec, "merge-checkpoint")["resources"]["resourceMemoryLimit"] == f"{cluster.memory_gib:g}Gi"
    assert "accelerator" not in container(spec, "merge-checkpoint")["resources"]


def test_kueue_counts_steps_with_gpus_and_no_others(texts, tmp_path):
    cluster = load_cluster("h800")
    for text in texts.values():
        spec, platform = read(text)
        for name, executor in platform.items():
            gpus = "accelerator" in spec["deploymentSpec"]["executors"][name]["container"]["resources"]
            assert executor["podMetadata"]["labels"].get("kueue.x-k8s.io/queue-name") == (
                cluster.kubernetes.queue if gpus else None
            ), name
            assert "kueue.x-k8s.io/priority-class" not in executor["podMetadata"]["labels"]

    def labels(**settings: object) -> dict[str, str]:
        changed = cluster.model_copy(update={"kubernetes": cluster.kubernetes.model_copy(update=settings)})
        (path,) = compile_pipelines(tmp_path, changed, names=("judged-grpo",), allow_tags=True)
        return dict(read(path.read_text())[1]["exec-generate"]["podMetadata"]["labels"])

    assert labels(priority="gavel-low")["kueue.x-k8s.io/priority-class"] == "gavel-low"
    assert "kueue.x-k8s.io/queue-name" not in labels(queue=None)


def test_each_pod_is_restricted_and_has_a_deadline(spec, platform):
    assert len(platform) == len(spec["deploymentSpec"]["executors"])
    for name, executor in platform.items():
        assert executor["securityContext"] == {"runAsUser": "10001", "runAsGroup": "10001", "runAsNonRoot": True}, name
        assert int(executor["activeDeadlineSeconds"]) >= 3600
        assert executor["fieldPathAsEnv"] == [
            {"name": "GAVEL_KFP_RUN", "fieldPath": "metadata.labels['pipeline/runid']"}
        ]
        assert "/state" in {mount["mountPath"] for mount in executor["emptyDirMounts"]}


def test_secrets_come_by_reference_and_judges_keys_only_where_judges_are_asked(platform):
    for name, executor in platform.items():
        found = secrets(executor)
        assert found["gavel-store"] == (SECRET_ENV, False)
        asks = name.removeprefix("exec-") in ("deploy-judge", "probe-judge", "train-grpo", "score")
        assert ("gavel-judge-keys" in found) == asks, name
        if asks:
            keys, optional = found["gavel-judge-keys"]
            # Not all of them are in every cluster's Secret.
            assert optional
            assert {"MY_KEY", "DASHSCOPE_API_KEY"} <= keys


def test_steps_and_trainers_may_have_other_accounts_than_the_servers(tmp_path):
    cluster = load_cluster("h800")
    secret = {"store_secret": "steps", "trainer_store_secret": "train"}
    changed = cluster.model_copy(update={"kubernetes": cluster.kubernetes.model_copy(update=secret)})
    (path,) = compile_pipelines(tmp_path, changed, names=("judged-grpo",), allow_tags=True)
    for name, executor in read(path.read_text())[1].items():
        # The pod that follows a training has the steps' account; the training's pods are its RayJob's.
        assert secrets(executor).keys() - {"gavel-judge-keys"} == {"steps"}, name


def test_the_trainer_knows_its_image_and_kfp(spec):
    found = environment(spec, "train-grpo")
    assert found["GAVEL_IMAGE_TRAINER"] == IMAGES["trainer"]
    assert found["KFP_HOST"] == "http://ml-pipeline.kubeflow.svc.cluster.local:8888"
    assert "KFP_HOST" not in environment(spec, "generate")


def test_models_are_kept_on_the_claim_unless_the_pods_are_elsewhere(platform, tmp_path, monkeypatch):
    assert platform["exec-generate"]["pvcMount"][0]["constant"] == "gavel-models"
    (path,) = compile_pipelines(tmp_path, load_cluster("dev"), names=("judged-grpo",), allow_tags=True, claims=False)
    spec, standalone = read(path.read_text())
    assert all("pvcMount" not in executor for executor in standalone.values())
    assert environment(spec, "generate")["HF_HOME"].startswith("/state/")
    # A cluster without GPUs.
    assert "accelerator" not in container(spec, "generate")["resources"]


def test_components_are_short_and_only_import_their_work(spec):
    for executor in spec["deploymentSpec"]["executors"].values():
        command = "\n".join(executor["container"]["command"])
        assert "pip install" not in command
        (function,) = ast.parse(command[command.index("def ") :]).body
        assert len(ast.unparse(function).splitlines()) <= 15


def test_ifeval_is_started_only_where_it_is_asked_for(spec):
    asked = {name: task for name, task in all_tasks(spec).items() if "condition" in task.get("triggerPolicy", {})}
    assert len(asked) == 2
    for task in asked.values():
        assert "resolve-ifeval" in task["triggerPolicy"]["condition"]
    reached = {name for component in spec["components"].values() for name in component.get("dag", {}).get("tasks", {})}
    assert {"generate-ifeval", "ifeval", "report"} <= reached


def test_an_evaluation_takes_the_checkpoint_and_trains_nothing(texts):
    evaluation = read(texts["evaluate"])[0]
    tasks = all_tasks(evaluation)
    assert "train-grpo" not in tasks
    assert set(tasks["import-model"]["inputs"]["parameters"]) >= {"checkpoint", "experiment"}
    parameters = evaluation["root"]["inputDefinitions"]["parameters"]
    assert {entry["parameterType"] for entry in parameters.values()} == {"STRING"}
    assert {name for name, entry in parameters.items() if "defaultValue" not in entry} == {"experiment", "checkpoint"}
    assert tasks["teardown-judge"]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    assert not tasks["import-model"].get("cachingOptions", {}).get("enableCache", False)
    assert "probe-judge" in tasks["score-generations"]["dependentTasks"]


def branches(spec: dict[str, Any]) -> dict[bool, set[str]]:
    """Tasks of the mixed baseline inside its condition: where a judge is asked, and where none is."""
    found = {}
    for component in spec["components"].values():
        for name, task in component.get("dag", {}).get("tasks", {}).items():
            if condition := task.get("triggerPolicy", {}).get("condition"):
                assert "resolve-judged" in condition, name
                inner = spec["components"][task["componentRef"]["name"]]["dag"]["tasks"]
                found[not condition.startswith("!")] = {re.sub(r"-\d+$", "", each) for each in inner}
    return found


def test_a_mixture_starts_a_judge_only_where_one_is_asked(texts):
    spec, platform = read(texts["mixed-baseline"])
    always = {"train-grpo", "merge-checkpoint", "generate-tasks", "score-tasks", "report-tasks"}
    assert branches(spec) == {True: always | {"deploy-judge", "probe-judge"}, False: always}
    tasks = all_tasks(spec)
    assert "probe-judge" in tasks["train-grpo"]["dependentTasks"]
    assert tasks["teardown-judge"]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    assert not {"generate", "score"} & set(tasks)
    # Either branch has what it needs of nodes and Secrets.
    assert {name for name in platform if name.startswith("exec-train-grpo")} == {"exec-train-grpo", "exec-train-grpo-2"}
    assert platform["exec-train-grpo"].keys() == platform["exec-train-grpo-2"].keys()
    assert container(spec, "generate-tasks")["resources"]["accelerator"]["resourceCount"] == "2"
    assert "accelerator" not in container(spec, "score-tasks")["resources"]


def test_an_evaluation_on_task_sets_asks_nobody(texts):
    spec = read(texts["evaluate-tasks"])[0]
    assert set(all_tasks(spec)) == {"resolve", "import-model", "prepare-data", "generate-tasks-of", "score-tasks"}
    parameters = spec["root"]["inputDefinitions"]["parameters"]
    assert {name for name, entry in parameters.items() if "defaultValue" not in entry} == {"experiment", "checkpoint"}
    source = all_tasks(spec)["generate-tasks-of"]["inputs"]["parameters"]["base"]
    assert source == {"taskOutputParameter": {"outputParameterKey": "base", "producerTask": "resolve"}}


def test_an_evaluation_of_workflows_has_the_executor_up_for_scoring_alone(texts):
    spec, platform = read(texts["evaluate-workflows"])
    tasks = all_tasks(spec)
    after = {name: set(task.get("dependentTasks", ())) for name, task in tasks.items() if not name.startswith("exit-")}
    assert after.keys() == {
        *("resolve", "import-model", "prepare-data", "generate-tasks-of"),
        *("deploy-judge", "probe-judge", "score-tasks", "teardown-judge"),
    }
    # One after the other, so that no executor model waits for answers with its GPUs.
    assert after["prepare-data"] >= {"import-model"}
    assert after["generate-tasks-of"] >= {"import-model", "prepare-data"}
    assert after["deploy-judge"] >= {"generate-tasks-of"}
    assert after["probe-judge"] >= {"deploy-judge"}
    assert after["score-tasks"] >= {"generate-tasks-of", "prepare-data", "probe-judge"}
    assert tasks["teardown-judge"]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    assert set(tasks["teardown-judge"]["inputs"]["parameters"]) == {
        *("experiment", "judge", "seed", "start_from", "store", "code_version")
    }
    assert not any(task.get("triggerPolicy", {}).get("condition") for task in tasks.values())
    parameters = spec["root"]["inputDefinitions"]["parameters"]
    assert {name for name, entry in parameters.items() if "defaultValue" not in entry} == {"experiment", "checkpoint"}
    source = tasks["generate-tasks-of"]["inputs"]["parameters"]["base"]
    assert source == {"taskOutputParameter": {"outputParameterKey": "base", "producerTask": "resolve"}}
    # An external executor is asked by score-tasks with its key.
    assert "gavel-judge-keys" in secrets(platform["exec-score-tasks"])
    assert container(spec, "generate-tasks-of")["resources"]["accelerator"]["resourceCount"] == "2"
    assert "accelerator" not in container(spec, "score-tasks")["resources"]


def test_a_cluster_that_is_this_machine_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="this machine") as caught:
        compile_pipelines(tmp_path, load_cluster("local-cpu"))
    assert "cluster=h800" in caught.value.remedy


def test_the_same_compiles_to_the_same(texts, tmp_path, monkeypatch):
    for name, image in IMAGES.items():
        monkeypatch.setenv(f"GAVEL_IMAGE_{name.upper()}", image)
    paths = compile_pipelines(tmp_path, load_cluster("h800"), further_keys=["MY_KEY"])
    assert {path.stem: path.read_text() for path in paths} == texts


def test_the_command_wants_digests_and_takes_tags_when_told(tmp_path, monkeypatch, capsys):
    from pipelines.__main__ import main

    for name in ("TOOLS", "TRAINER", "EVALUATION", "CPU"):
        monkeypatch.delenv(f"GAVEL_IMAGE_{name}", raising=False)
    monkeypatch.setenv("GAVEL_IMAGES", str(tmp_path / "none.json"))
    monkeypatch.delenv("ALLOW_TAGS", raising=False)
    assert main(["compile", str(tmp_path / "build")]) == 1
    told = capsys.readouterr().err
    assert "digest" in told
    assert "make images" in told
    assert "ALLOW_TAGS=1" in told
    assert not (tmp_path / "build").exists()
    monkeypatch.setenv("ALLOW_TAGS", "1")
    assert main(["compile", str(tmp_path / "build")]) == 0
    assert "latest" not in (tmp_path / "build" / "judged-grpo.yaml").read_text()
    assert Path(tmp_path / "build" / "evaluate.yaml").exists()
