"""A judge as a process of this machine: our CPU server, or vLLM where it is installed."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.core.progress import Progress
from components.core.services.manager import ServiceManager, ServiceSpec
from components.judge.endpoint import Endpoint, forget_endpoint, record_endpoint
from components.judge.leases.ended import Ended
from components.judge.placement.commands import embedded_command, scripted_command, vllm_command

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_PATIENCE = {"embedded": 180.0, "vllm": 1200.0}
"""Seconds until the server must answer. vLLM loads and compiles large models for many minutes."""


class LocalPlacement:
    """Starts the judge's server under the supervising command, or adopts the one that it started before.

    Args:
        spec: the judge, with the source of its weights.
        threads: threads that our CPU server computes with.
        state: the state folder.
    """

    def __init__(self, spec: "JudgeSpec", threads: int, state: Path) -> None:
        self._spec = spec
        self._threads = threads
        self._state = state
        self._manager = ServiceManager(state)

    @property
    def service(self) -> str:
        """Name of the server in the registry of local services."""
        return f"judge-{self._spec.name}"

    def up(self, progress: Progress) -> Endpoint:
        """See :class:`components.judge.placement.base.JudgePlacement`."""
        from components.models.materialize import cache_folder, materialize

        spec = self._spec
        if spec.source is None:
            raise JudgeError("the judge has no weights to serve", where=f"judge {spec.name}", remedy="set source")
        if spec.serving == "vllm":
            vllm_command(spec, Path(), port="0")  # Refuses before gigabytes are fetched.
        folder = Path()
        if spec.weights is not None:
            progress.phase(f"preparing the weights of judge {spec.name}")
            folder = materialize(spec.weights, cache_folder(self._state))
        if spec.serving == "vllm":
            # The embedded server checks what it loads.
            from components.models.loading import check_model

            check_model(folder)
        progress.phase(f"starting judge {spec.name}")
        service = self._manager.start(
            ServiceSpec(
                name=self.service,
                argv=self._command(folder),
                port=spec.port,
                timeout=_PATIENCE[spec.serving],
            ),
            progress,
        )
        endpoint = Endpoint(service.url, spec.model_name, str(service.process), service.log)
        record_endpoint(spec.name, self._state, endpoint)
        return endpoint

    def down(self) -> Ended:
        """See :class:`components.judge.placement.base.JudgePlacement`."""
        ran = self._manager.end(self.service)
        forget_endpoint(self._spec.name, self._state)
        return Ended.ENDED if ran else Ended.ABSENT

    def _command(self, folder: Path) -> list[str]:
        if self._spec.serving == "vllm":
            return vllm_command(self._spec, folder, port="{port}")
        if self._spec.weights is None:
            return scripted_command(self._spec, port="{port}")
        return embedded_command(
            self._spec, folder, port="{port}", threads=self._threads, parent=str(self._manager.owner)
        )
