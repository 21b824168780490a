"""Images built for real, and run as a cluster would: no root, no capabilities, a root file system that is read-only."""

import json
from pathlib import Path

import pytest
from container_machine import podman, run

pytestmark = [pytest.mark.images, pytest.mark.slow]
SOMEBODY = "12345:0"
"""A user id that the image does not know, as OpenShift's and other clusters' policies choose."""
ASK_SANDBOX = """
import asyncio
from components.sandbox.isolation import isolation
print(asyncio.run(isolation()))
"""
RUN_STEP = """
import json, sys
from pathlib import Path
from kfp.dsl import executor_main
from components.core.spec import load_experiment
experiment = load_experiment("tiny").to_json()
given = {
    "inputs": {"parameterValues": {"experiment": experiment, "store": "file:///state/store", "code_version": "x"}},
    "outputs": {
        "artifacts": {"data": {"artifacts": [{"name": "data", "type": {"schemaTitle": "system.Dataset"},
            "uri": "/state/kfp/data", "metadata": {}}]}},
        "outputFile": "/state/kfp/output.json",
    },
}
sys.argv = ["executor_main", "--component_module_path", "/app/components/data/component.py",
    "--function_to_execute", "prepare_data", "--executor_input", json.dumps(given)]
executor_main.executor_main()
print("OUTPUT", Path("/state/kfp/output.json").read_text())
print("FILES", json.dumps(sorted(p.name for p in Path("/state/store").rglob("*") if p.is_file())))
"""
ASK_JUDGE = """
import json, subprocess, sys, time, urllib.request
server = subprocess.Popen([sys.executable, "-m", "components.judge.server", "--source",
    '{"kind": "tiny", "seed": 0}', "--name", "tiny", "--port", "8000", "--threads", "1"])
for _ in range(600):
    try:
        urllib.request.urlopen("http://127.0.0.1:8000/health", timeout=5)
        break
    except OSError:
        assert server.poll() is None
        time.sleep(0.5)
body = json.dumps({"model": "tiny", "prompt": "Is it so?", "max_tokens": 4, "logprobs": 1, "temperature": 0}).encode()
request = urllib.request.Request("http://127.0.0.1:8000/v1/completions", body, {"Content-Type": "application/json"})
print("ANSWER", urllib.request.urlopen(request, timeout=120).read().decode())
server.terminate()
"""


def line(output: str, word: str) -> object:
    return json.loads(next(each for each in output.splitlines() if each.startswith(word)).removeprefix(word))


def test_who_it_runs_as_and_what_it_says_of_itself(tools: str) -> None:
    (found,) = json.loads(podman("image", "inspect", tools).stdout)
    config = found["Config"]
    assert config["User"] == "10001:10001"
    labels = {name.removeprefix("org.opencontainers.image."): value for name, value in config["Labels"].items()}
    assert labels["title"] == "Gavel tools"
    assert labels["version"] == "test"
    assert labels["base.name"] == "localhost/gavel-test-base:bookworm"
    assert len(labels["revision"].removesuffix("-dirty")) == 40
    assert not [name for name in config["Env"] if any(word in name for word in ("TOKEN", "SECRET", "PASSWORD"))]
    assert run(tools, ["id", "-u"]).strip() == "10001"
    # Neither pip's settings of this machine nor lock files nor history are in it.
    seen = run(tools, ["sh", "-c", "ls -a / /app /locks /root 2>&1; cat /etc/pip.conf 2>&1"])
    assert "pip.conf: No such file" in seen or not seen.rpartition("\n")[2]
    assert ".git" not in seen
    assert ".env" not in seen


@pytest.mark.parametrize("user", ["", SOMEBODY])
def test_the_commands(tools: str, user: str) -> None:
    from components.core.spec import load_experiment

    shown = run(tools, ["python", "-m", "pipelines", "show", "tiny"], user=user)
    assert load_experiment("tiny").digest() in shown


def test_a_step_through_the_executor_of_kfp(tools: str) -> None:
    output = run(tools, ["python", "-c", RUN_STEP], user=SOMEBODY)
    told = line(output, "OUTPUT ")
    assert isinstance(told, dict)
    (artifact,) = told["artifacts"]["data"]["artifacts"]
    assert artifact["metadata"]["folder"].startswith("file:///state/store/tiny/prepare-data/")
    files = line(output, "FILES ")
    assert isinstance(files, list)
    assert {"train.parquet", "heldout.parquet", "manifest.json", "result.json"} <= set(files)


def test_untrusted_code_is_kept_in(tools: str) -> None:
    """By namespaces where the machine permits them to a container, else by the filter; either keeps everything in."""
    told = run(tools, ["python", "-c", ASK_SANDBOX], user=SOMEBODY)
    assert "Untrusted functions ran at level" in told
    assert "Nothing that was tried was possible" in told


def test_the_judge_server_answers(cpu: str) -> None:
    answer = line(run(cpu, ["python", "-c", ASK_JUDGE], user=SOMEBODY), "ANSWER ")
    assert isinstance(answer, dict)
    assert answer["model"] == "tiny"
    assert len(answer["choices"][0]["logprobs"]["token_logprobs"]) > 0


def test_what_ray_on_a_cluster_needs(cpu: str) -> None:
    """KubeRay starts Ray by its command and probes it with wget and grep."""
    asked = "command -v bash wget grep ray && ray --version"
    script = f"{asked} && python -c 'import verl, torch; print(torch.version.cuda)'"
    told = run(cpu, ["bash", "-c", script], user=SOMEBODY)
    assert "ray, version 2.60.0" in told
    assert told.splitlines()[-1] == "None"


def test_sizes(tools: str) -> None:
    (found,) = json.loads(podman("image", "inspect", tools).stdout)
    (below,) = json.loads(podman("image", "inspect", "localhost/gavel-test-base:bookworm").stdout)
    assert found["Size"] - below["Size"] < 1e9


def test_bytecode_is_there_already(tools: str) -> None:
    script = "import components.core.spec.load as m; print(m.__cached__)"
    cached = run(tools, ["python", "-c", script]).strip()
    assert run(tools, ["ls", cached]).strip() == cached
    assert Path(cached).suffix == ".pyc"
