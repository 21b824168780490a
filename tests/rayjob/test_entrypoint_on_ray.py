"""The entrypoint of the generated RayJob, as it stands, on a real Ray that is started with the generated parameters:
killed with its disk in the middle, and resumed on another machine's worth of nothing from the store."""

import dataclasses
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest
from ray_training import ROOT

from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import Elsewhere
from components.core.step.execute import perform
from components.core.step.results import Results
from components.data.step import STEP as PREPARE
from components.rayjob import messages
from components.rayjob.build import entrypoint, rayjob
from components.rayjob.names import base_name
from components.rayjob.pods import Training
from components.train.placed import STEP as TRAIN

pytestmark = [pytest.mark.verl, pytest.mark.slow, pytest.mark.cluster]

STEPS = 8
START_SECONDS = 420.0
"""Ray, verl and the first steps, on a machine that does other things."""


class SubmittedError(Exception):
    def __init__(self, asked: Elsewhere) -> None:
        self.asked = asked


@pytest.fixture(scope="module")
def judge() -> Iterator[Any]:
    path = ROOT / "tests/pipelines/rule_judge.py"
    spec = importlib.util.spec_from_file_location("rule_judge", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rule_judge"] = module
    spec.loader.exec_module(module)
    found = module.RuleJudge(_ports(1)[0], faults=False)
    found.start()
    yield found
    found.close()


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    path = ROOT / "configs"
    judge = (
        "judge={name: ruler, family: rule, serving: kserve, model_name: rule, context_tokens: 4096, logprobs: false, "
        "source: {kind: hub, repo: none/none}, parameters: 1000, "
        "deployment: {runtime: gavel-cpu, cpus: 1, memory_gib: 2}}"
    )
    criteria = "{text: has the letter e, points: 2.0}, {text: has five words or more, points: 1.0}"
    return load_experiment(
        "tiny",
        [
            "cluster=dev",
            judge,
            "reward=rubric",
            f"data={{use: tiny-sentences, criteria: [{criteria}]}}",
            f"training.steps={STEPS}",
            "cluster.cpu_threads=1",
        ],
        path,
    )


@pytest.fixture(scope="module")
def asked(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """What the step outside would hand to a job."""

    def hand_on(asked: Elsewhere) -> None:
        raise SubmittedError(asked)

    folder = tmp_path_factory.mktemp("outside")
    store = (folder / "store").as_uri()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAVEL_STATE", str(folder / "state"))
        patch.delenv("GAVEL_SUPERVISOR", raising=False)
        data = perform(PREPARE, experiment, store, {})
        with pytest.raises(SubmittedError) as caught:
            perform(dataclasses.replace(TRAIN, elsewhere=hand_on), experiment, store, {"data": data.uri})
    return caught.value.asked


def _ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for item in held:
        item.bind(("127.0.0.1", 0))
    found = [item.getsockname()[1] for item in held]
    for item in held:
        item.close()
    return found


def _agent_ports() -> list[str]:
    """Ports of a node's agents: raylet waits 15 s for those that it is not told."""
    names = (
        "metrics-export-port",
        "dashboard-agent-listen-port",
        "dashboard-agent-grpc-port",
        "runtime-env-agent-port",
    )
    return [f"--{name}={port}" for name, port in zip(names, _ports(len(names)), strict=True)]


class RayNodes:
    """Head and worker of the generated object, as processes of this machine."""

    def __init__(self, body: dict[str, Any], folder: Path) -> None:
        groups = body["spec"]["rayClusterSpec"]
        head, worker = groups["headGroupSpec"], groups["workerGroupSpecs"][0]
        self.state = folder / "state"
        temporary = Path("/tmp") / f"gr{os.getpid()}-{folder.name}"  # Ray's sockets need a short path.
        home = folder / "home"
        home.mkdir(parents=True)
        [container] = head["template"]["spec"]["containers"]
        named = {item["name"]: item["value"] for item in container["env"] if "value" in item}
        # What the image and the mounts give a pod.
        self.environment = {
            **os.environ,
            **named,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT),
            "GAVEL_STATE": str(self.state),
            "GAVEL_CACHE": str(folder.parent / "cache"),
            "HF_HOME": str(folder / "hub"),
            "HOME": str(home),
        }
        self._folder, self._temporary = folder, temporary
        self.processes: list[subprocess.Popen[bytes]] = []
        for attempt in range(4):
            if self._up(head["rayStartParams"], worker["rayStartParams"], attempt):
                return
            # Ray gives its own processes 30 s, which no setting changes: too little on a busy machine.
            self.kill()
        raise AssertionError((folder / "head.log").read_text()[-2000:])

    def _up(self, head: dict[str, str], worker: dict[str, str], attempt: int) -> bool:
        port, dashboard, client = _ports(3)
        self.dashboard = f"http://127.0.0.1:{dashboard}"
        here = "--node-ip-address=127.0.0.1"
        common = ["--block", "--min-worker-port=0", "--max-worker-port=0", "--object-store-memory=100000000"]
        of_head = [
            "--head", f"--port={port}", f"--dashboard-port={dashboard}", f"--temp-dir={self._temporary}{attempt}",
            f"--ray-client-server-port={client}", here, *_agent_ports(),
        ]  # fmt: skip
        of_worker = [f"--address=127.0.0.1:{port}", here, *_agent_ports()]
        self.processes = [self._start(of_head, head, common, self._folder / "head.log")]
        if not self._started("head.log"):
            return False
        self.processes.append(self._start(of_worker, worker, common, self._folder / "worker.log"))
        return self._started("worker.log")

    def _started(self, log: str) -> bool:
        """Whether the newest process says that its node runs."""
        end = time.monotonic() + 150
        while time.monotonic() < end and self.processes[-1].poll() is None:
            if "Ray runtime started" in (self._folder / log).read_text():
                return True
            time.sleep(0.5)
        return False

    def _start(
        self, own: list[str], parameters: dict[str, str], common: list[str], log: Path
    ) -> subprocess.Popen[bytes]:
        asked = [f"--{name}={value}" for name, value in parameters.items()]
        with log.open("wb") as out:
            return subprocess.Popen(
                [str(Path(sys.executable).with_name("ray")), "start", *own, *asked, *common],
                env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """As when the nodes are gone: everything at once."""
        for process in self.processes:
            try:
                children = psutil.Process(process.pid).children(recursive=True)
            except psutil.NoSuchProcess:
                children = []
            for child in [*children, psutil.Process(process.pid)] if process.poll() is None else children:
                try:
                    child.kill()
                except psutil.NoSuchProcess:
                    continue
            process.wait()
        for process in psutil.process_iter():
            try:
                if process.environ().get("GAVEL_STATE") == str(self.state):
                    process.send_signal(signal.SIGKILL)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue


@contextmanager
def nodes(body: dict[str, Any], folder: Path) -> Iterator[RayNodes]:
    folder.mkdir()
    found = RayNodes(body, folder)
    try:
        yield found
    finally:
        found.kill()
        for left in Path("/tmp").glob(f"gr{os.getpid()}-{folder.name}*"):
            shutil.rmtree(left, ignore_errors=True)


def submit(cluster: RayNodes, body: dict[str, Any]) -> Any:
    """As KubeRay's submitter does: the entrypoint as it stands, without a runtime environment."""
    from ray.job_submission import JobSubmissionClient

    client = JobSubmissionClient(cluster.dashboard)
    end = time.monotonic() + 120
    while True:
        try:
            return client, client.submit_job(entrypoint=body["spec"]["entrypoint"])
        except RuntimeError as error:
            # The head's agent starts after the dashboard.
            if "No available agent" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(1)


def wait_for(client: Any, job: str, what: Any, seconds: float = START_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not what():
        state = client.get_job_status(job)
        assert not state.is_terminal(), client.get_job_logs(job)[-4000:]
        assert time.monotonic() < end, client.get_job_logs(job)[-4000:]
        time.sleep(0.5)


def test_the_entrypoint_trains_is_killed_and_resumes_from_the_store(
    asked: Elsewhere, judge: Any, tmp_path: Path
) -> None:
    endpoints = {"ruler": judge.url}
    store, experiment = asked.store, asked.experiment
    training = Training(experiment, base_name(str(experiment.name), asked.identity), endpoints)
    key = f"{asked.place}/{messages.REQUEST}"
    request = messages.Request(experiment.to_json(), asked.inputs, endpoints)
    messages.write(store, asked.place, messages.REQUEST, request)
    body = rayjob(training, asked.identity, entrypoint(asked.store_url, key))

    with nodes(body, tmp_path / "a") as first:
        client, job = submit(first, body)
        kept = f"{asked.place}/checkpoints"
        wait_for(client, job, lambda: any(entry.key.endswith("manifest.json") for entry in store.list(kept)))
        beat = messages.read_heartbeat(store, asked.place)
        assert beat is not None
        assert (beat.attempt, beat.sequence > 1) == (training.name, True)
    assert Results(store, str(experiment.name), "train-grpo", asked.identity).find(Progress("t")) is None

    with nodes(body, tmp_path / "b") as second:
        client, job = submit(second, body)
        found = Results(store, str(experiment.name), "train-grpo", asked.identity)
        from ray.job_submission import JobStatus

        end = time.monotonic() + START_SECONDS
        while not client.get_job_status(job).is_terminal():
            assert time.monotonic() < end, client.get_job_logs(job)[-4000:]
            time.sleep(1)
        log = client.get_job_logs(job)
        assert client.get_job_status(job) == JobStatus.SUCCEEDED, log[-4000:]
        assert "is restored from the store" in log
        assert "resuming from step" in log
        last = log.strip().splitlines()[-1]
        assert json.loads(last.removeprefix("gavel-driver: "))["reused"] is False

    published = found.find(Progress("t"))
    assert published is not None
    folder = Path(published.uri.removeprefix("file://"))
    rollouts = pq.read_table(folder / "rollouts.parquet").to_pylist()
    assert sorted({row["step"] for row in rollouts}) == list(range(1, STEPS + 1))
    assert {row["status"] for row in rollouts} <= {"scored", "abstained"}
    assert any(row["reward"] is not None for row in rollouts)
    metrics = pq.read_table(folder / "metrics.parquet").to_pylist()
    assert sorted({row["step"] for row in metrics}) == list(range(1, STEPS + 1))
    assert (folder / "checkpoint").is_dir()
    assert store.list(f"{asked.place}/checkpoints") == []
