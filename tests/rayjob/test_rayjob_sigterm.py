"""SIGTERM: the job goes only with a run that was cancelled."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import urllib3
from kube_fixture import Api
from operators import Ray, RayOperator
from ray_training import BASE, Played, training

from components.kube.kinds import RAY_JOBS
from components.rayjob.cancelled import cancelled
from components.rayjob.patience import Patience
from components.rayjob.step import run

QUICK = Patience(stall=60.0, pause=60.0, poll=0.1)


class KfpDouble:
    """/apis/v2beta1/runs/ID, with the state that it is told, or a status."""

    def __init__(self) -> None:
        self.state: str | None = "RUNNING"
        self.status = 200
        self.asked: list[tuple[str, str | None]] = []
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                double.asked.append((self.path, self.headers.get("authorization")))
                self.send_response(double.status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps({"run_id": "run-7", "state": double.state}).encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def kfp(monkeypatch: pytest.MonkeyPatch) -> Iterator[KfpDouble]:
    found = KfpDouble()
    monkeypatch.setenv("KFP_HOST", found.url)
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-7")
    yield found
    found.close()


def terminated(api: Api, played: Played) -> None:
    """Follow a job that runs until SIGTERM comes."""

    def end() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            job = api.cluster().get(RAY_JOBS, BASE)
            if job and (job.get("status") or {}).get("jobDeploymentStatus") == "Running":
                break
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=end)
    before = signal.getsignal(signal.SIGTERM)
    with RayOperator(api, Ray("hangs")), played.beating([BASE]):
        thread.start()
        with pytest.raises(SystemExit) as caught:
            run(played.asked, api.cluster(), training(played.asked.experiment), QUICK)
        thread.join()
    assert caught.value.code == 143
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("state", ["CANCELING", "CANCELED"])
def test_a_cancelled_run_takes_its_job_along(double: Api, played: Played, kfp: KfpDouble, state: str) -> None:
    kfp.state = state
    terminated(double, played)
    assert double.cluster().get(RAY_JOBS, BASE) is None
    assert kfp.asked[0][0] == "/apis/v2beta1/runs/run-7"
    assert f"the KFP API says {state}" in played.output


@pytest.mark.parametrize(("state", "status"), [("RUNNING", 200), ("FAILED", 200), ("RUNNING", 503), (None, 404)])
def test_an_evicted_step_leaves_its_job_and_follows_it_again(
    double: Api, played: Played, kfp: KfpDouble, state: str | None, status: int
) -> None:
    kfp.state, kfp.status = state, status
    terminated(double, played)
    job = double.cluster().get(RAY_JOBS, BASE)
    assert job is not None
    assert "runs on" in played.output
    with RayOperator(double, Ray("succeeds")):
        played.publish()
        run(played.asked, double.cluster(), training(played.asked.experiment), QUICK)
    again = double.cluster().get(RAY_JOBS, BASE)
    assert again is not None
    assert again["metadata"]["uid"] == job["metadata"]["uid"]


def test_without_an_answer_nothing_is_known(monkeypatch: pytest.MonkeyPatch, kfp: KfpDouble) -> None:
    kfp.close()
    assert cancelled() == (None, "the KFP API cannot be asked: MaxRetryError")
    monkeypatch.delenv("GAVEL_KFP_RUN")
    assert cancelled()[0] is None


def test_the_pods_token_is_shown_where_kfp_wants_one(
    monkeypatch: pytest.MonkeyPatch, kfp: KfpDouble, tmp_path_factory: pytest.TempPathFactory
) -> None:
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text("of-the-pod\n")
    monkeypatch.setenv("KF_PIPELINES_SA_TOKEN_PATH", str(token))
    assert cancelled() == (False, "the KFP API says RUNNING")
    assert kfp.asked[0][1] == "Bearer of-the-pod"


def test_a_server_without_tls_is_no_answer(monkeypatch: pytest.MonkeyPatch, kfp: KfpDouble) -> None:
    monkeypatch.setenv("KFP_HOST", kfp.url.replace("http:", "https:"))
    found, how = cancelled()
    assert found is None
    assert how.startswith("the KFP API cannot be asked: ")


def test_kfps_client_that_stumbles_over_a_failure_of_tls_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, kfp: KfpDouble
) -> None:
    """It decodes the body of the error that it has just made without one."""

    def fail(*_: object, **__: object) -> None:
        raise urllib3.exceptions.SSLError("certificate verify failed")

    monkeypatch.setattr(urllib3.PoolManager, "request", fail)
    assert cancelled() == (None, "the KFP API cannot be asked: no TLS connection")


def test_a_failure_of_tls_is_no_cancellation(
    double: Api, played: Played, monkeypatch: pytest.MonkeyPatch, kfp: KfpDouble
) -> None:
    monkeypatch.setenv("KFP_HOST", kfp.url.replace("http:", "https:"))
    terminated(double, played)
    assert double.cluster().get(RAY_JOBS, BASE) is not None
    assert "the run is not known to be cancelled (the KFP API cannot be asked: " in played.output
