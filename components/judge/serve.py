"""``python -m components.judge serve``: a judge's server in the foreground, off the cluster."""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from components.core.errors import JudgeError
from components.core.services.health import is_healthy
from components.core.services.ports import free_ports
from components.core.services.process import ProcessId
from components.core.services.state import state_folder
from components.judge.placement.commands import embedded_command, scripted_command, vllm_command

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_PATIENCE: Final = 180.0
"""Seconds until the embedded server must answer."""


def main(argv: Sequence[str]) -> int:
    """Become the judge's server; returns only when that fails.

    Raises:
        GavelError: the judge is served by others, or its weights or its server are not here.
    """
    from components.core.spec.single import load_judge

    parser = argparse.ArgumentParser(
        prog="python -m components.judge serve",
        description="Serve a judge on this machine until ctrl-C: the embedded CPU server, or a plain vLLM for judges "
        "that vLLM or KServe serve.",
    )
    parser.add_argument("--judge", required=True, help="a name in configs/judges, or the path of a YAML file")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="the judge's own keys, as in port=8001")
    options = parser.parse_args(argv)
    spec = load_judge(options.judge, options.overrides)
    port = spec.port or free_ports(1)[0]
    command = command_for(spec, port)
    print(f"judge {spec.name} will answer at http://127.0.0.1:{port} once it is loaded; ctrl-C ends it", flush=True)
    print(
        f"try it: {sys.executable} -m components.judge check --judge {options.judge} "
        f"--endpoint http://127.0.0.1:{port}",
        flush=True,
    )
    os.execv(command[0], command)


@contextlib.contextmanager
def serving(spec: "JudgeSpec") -> Iterator[str]:
    """The embedded server's base URL, while it runs beside this process, with which it ends.

    Raises:
        GavelError: its weights are not to be had, or it did not come up.
    """
    port = free_ports(1)[0]
    command = command_for(spec, port)
    if spec.weights is not None:
        command += ["--parent", str(ProcessId.current())]
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + _PATIENCE
            while not is_healthy(f"http://127.0.0.1:{port}", "/health"):
                if child.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    said = log.read()[-300:].decode("utf-8", "replace").strip()
                    raise JudgeError(
                        f"the judge's server did not come up: {said or 'it says nothing'}",
                        where=f"judge {spec.name}",
                        remedy=f"start it in the foreground to see more: make judge JUDGE={spec.name}",
                    )
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            child.terminate()
            child.wait()


def command_for(spec: "JudgeSpec", port: int) -> list[str]:
    """The command line of the judge's server, its weights made ready.

    Raises:
        GavelError: see :func:`main`.
    """
    from components.models.materialize import cache_folder, materialize

    if spec.source is None or spec.serving == "external":
        raise JudgeError(
            "others serve this judge, so there is nothing to start",
            where=f"judge {spec.name}: serving {spec.serving}",
            remedy=f"ask whether it answers: python -m components.judge check --judge {spec.name}",
        )
    if spec.weights is None:
        return scripted_command(spec, port=str(port))
    if spec.serving == "embedded":
        folder = materialize(spec.weights, cache_folder(state_folder()))
        return embedded_command(spec, folder, port=str(port), threads=0, parent=None)
    # A missing vLLM is told before gigabytes are fetched.
    command = vllm_command(spec, state_folder(), port=str(port))
    folder = materialize(spec.weights, cache_folder(state_folder()))
    from components.models.loading import check_model

    check_model(folder)
    command[command.index("--model") + 1] = str(folder)
    return command
