"""Where a judge answers: written down when it is deployed, looked up by name when it is needed."""

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.core.services.process import ProcessId
from components.core.store.disk import atomic
from components.judge.deployed import find_on_cluster

if TYPE_CHECKING:
    from components.core.spec.cluster import ClusterSpec
    from components.core.spec.judge import JudgeSpec

ENDPOINTS_VARIABLE = "GAVEL_JUDGE_ENDPOINTS"
"""JSON {name: base URL} for pods that may not ask the API server: those of a training."""


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """A deployed judge.

    Attributes:
        url: base URL without ``/v1``.
        model_name: the model's name as the server knows it.
        process: ``pid:start`` of the server's process on this machine; None where there is none.
        log: the server's log file on this machine; None where there is none.
    """

    url: str
    model_name: str
    process: str | None = None
    log: str | None = None


def resolve_endpoint(spec: "JudgeSpec", state: Path, cluster: "ClusterSpec | None" = None) -> str:
    """The base URL, without ``/v1``, at which the judge answers now.

    Of an external judge it is what the specification says; then comes what $GAVEL_JUDGE_ENDPOINTS names, then what
    is written down in the state folder, and for serving kserve what the API server tells.

    Args:
        spec: the judge; for serving external its own endpoint is the answer.
        state: the state folder in which it was written down.
        cluster: where it runs; None takes the namespace of the pod, or of the kubeconfig's context.

    Raises:
        JudgeError: it was not deployed, its process has ended since, or the cluster does not tell.
    """
    if spec.serving == "external":
        if spec.endpoint is None:
            raise JudgeError("an external judge needs an endpoint", where=f"judge {spec.name}", remedy="set endpoint")
        return spec.endpoint.rstrip("/")
    if (given := given_endpoint(spec.name)) is not None:
        return given
    found = read_endpoint(spec.name, state)
    if found is None and spec.serving == "kserve":
        return find_on_cluster(spec, cluster)
    if found is None:
        raise JudgeError(
            f"judge {spec.name} is not deployed",
            where=str(_path(spec.name, state)),
            remedy="run the step deploy-judge first; it writes this file",
        )
    if found.process is not None and not ProcessId.parse(found.process).alive():
        raise JudgeError(
            f"judge {spec.name} was deployed at {found.url}, and its process has ended",
            where=found.log or str(_path(spec.name, state)),
            remedy="read that log, then run the step deploy-judge again",
        )
    return found.url


def given_endpoint(name: str) -> str | None:
    """What $GAVEL_JUDGE_ENDPOINTS names for the judge; None where it names nothing.

    Raises:
        JudgeError: the variable is no JSON object of names and URLs.
    """
    url = _given().get(name)
    return None if url is None else url.rstrip("/")


def _given() -> dict[str, str]:
    text = os.environ.get(ENDPOINTS_VARIABLE)
    if not text:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(url, str) for url in found.values()):
        raise JudgeError(
            "the judges' endpoints are no JSON object of names and URLs",
            where=f"${ENDPOINTS_VARIABLE}",
            remedy='unset it, or set it to {"NAME": "http://host:port"}',
        )
    return found


def read_endpoint(name: str, state: Path) -> Endpoint | None:
    """What is written down for the judge of that name; None if nothing is, or nothing that can be read."""
    try:
        values = json.loads(_path(name, state).read_text())
        return Endpoint(**values)
    except (FileNotFoundError, ValueError, TypeError):
        return None


def record_endpoint(name: str, state: Path, endpoint: Endpoint) -> None:
    """Write down where the judge answers, in place of what was there."""
    with atomic(_path(name, state), 0) as stream:
        stream.write(json.dumps(dataclasses.asdict(endpoint), indent=1, sort_keys=True).encode())


def forget_endpoint(name: str, state: Path) -> None:
    """Remove what is written down, if anything is."""
    _path(name, state).unlink(missing_ok=True)


def _path(name: str, state: Path) -> Path:
    return state / "judges" / f"{name}.json"
