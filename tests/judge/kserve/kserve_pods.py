"""Pods of judges that are real processes: the arguments of the object, started as they stand."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kube_fixture import Api
from operators import ServingOperator

from components.core.services.health import is_healthy
from components.core.services.ports import free_ports
from components.core.services.state import source_root
from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]


class ProcessOperator(ServingOperator):
    """The command is that of the runtime gavel-cpu; only the port differs, since pods of one machine share it."""

    def __init__(self, api: Api, state: Path) -> None:
        super().__init__(api, address=self._serve)
        self._state = state
        self._running: dict[str, tuple[str, subprocess.Popen[bytes]]] = {}

    def _serve(self, name: str) -> str:
        if name in self._running:
            return self._running[name][0]
        body = self.api.cluster().get(INFERENCE_SERVICES, name)
        assert body is not None
        arguments = body["spec"]["predictor"]["model"]["args"]
        port = free_ports(1)[0]
        command = [sys.executable, "-m", "components.judge.server", "--host=0.0.0.0", "--port=8080", *arguments]
        environment = {**os.environ, "GAVEL_STATE": str(self._state), "OMP_NUM_THREADS": "1"}
        with (self._state / f"{name}.log").open("wb") as log:
            child = subprocess.Popen(
                [*command, "--host=127.0.0.1", f"--port={port}"],
                stdout=log,
                stderr=log,
                env=environment,
                cwd=source_root(),
            )
        url = f"http://127.0.0.1:{port}"
        self._running[name] = (url, child)
        end = time.monotonic() + 600
        while not is_healthy(url, "/health"):
            assert child.poll() is None, (self._state / f"{name}.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.1)
        return url

    def _close(self) -> None:
        for _, child in self._running.values():
            child.terminate()
            child.wait()

    def removed(self, uid: str) -> None:
        """Its pod goes with it."""
        names = {body["metadata"]["name"] for body in self._objects(self.kind)}
        for name in [name for name in self._running if name not in names]:
            _, child = self._running.pop(name)
            child.terminate()
            child.wait()


@contextlib.contextmanager
def processes(api: Api, state: Path) -> Iterator[ProcessOperator]:
    """The operator at work."""
    state.mkdir(parents=True, exist_ok=True)
    with ProcessOperator(api, state) as found:
        yield found
    assert found.failures == []
