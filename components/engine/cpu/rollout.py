"""A verl rollout over transformers on the CPU: requests in flight are decoded as one batch.

verl finds it by name (``rollout.name=hfcpu``) once this module is imported through ``model.external_lib``.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import ray
import torch
from verl.workers.rollout import base as rollout_base
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica, RolloutReplicaRegistry, TokenOutput

import components.engine.actor_engine  # noqa: F401  (registers the policy's engine)
from components.core.errors import GavelError
from components.engine.cpu import ROLLOUT_NAME
from components.engine.cpu.shared_weights import SharedWeights, share_parameters
from components.models.decode import Decoded, decode

NAME = ROLLOUT_NAME
_GATHER_SECONDS = 0.2
"""How long the server waits for further requests of the same batch; verl sends a step's prompts together."""


def layout_file(replica_rank: int) -> Path:
    """Where the replica describes its shared weights: in the training run's own folder."""
    return Path(os.environ["GAVEL_TRAIN_FOLDER"]) / f"rollout-weights-{replica_rank}.json"


class RolloutServer:
    """Holds the rollout model; requests with equal sampling parameters are decoded together."""

    def __init__(self, config: Any, model_config: Any, replica_rank: int) -> None:
        from transformers import AutoTokenizer

        from components.models.grouped_attention import NAME as GROUPED
        from components.models.loading import load_model

        torch.set_num_threads(int(os.environ.get("GAVEL_CPU_THREADS", "1")))
        self._max_tokens = int(config.response_length)
        self._tokenizer = AutoTokenizer.from_pretrained(model_config.path)
        self._model = load_model(Path(model_config.path), torch.float32, attn_implementation=GROUPED)
        share_parameters(self._model, layout_file(replica_rank))
        self._max_batch = int(os.environ.get("GAVEL_ROLLOUT_BATCH", "32"))
        self._seed = int(config.seed) + replica_rank
        self._generator = torch.Generator().manual_seed(self._seed)
        self._waiting: list[tuple[list[int], tuple[tuple[str, Any], ...], asyncio.Future[Decoded]]] = []
        self._loop_task: asyncio.Task[None] | None = None
        self._global_steps: int | None = None

    async def generate(
        self, prompt_ids: list[int], sampling_params: dict[str, Any], request_id: str, **_: Any
    ) -> TokenOutput:
        """Continue one prompt. The request's own seed and stop strings are not supported."""
        future: asyncio.Future[Decoded] = asyncio.get_running_loop().create_future()
        self._waiting.append((list(prompt_ids), tuple(sorted(sampling_params.items())), future))
        if self._loop_task is None or self._loop_task.done():
            self._loop_task = asyncio.create_task(self._serve())
        decoded = await future
        return TokenOutput(
            token_ids=decoded.token_ids,
            log_probs=decoded.log_probs if sampling_params.get("logprobs") else None,
            stop_reason="completed" if decoded.finished else "length",
            extra_fields={"global_steps": self._global_steps},
        )

    async def _serve(self) -> None:
        while self._waiting:
            await asyncio.sleep(_GATHER_SECONDS)
            params = self._waiting[0][1]
            # Requests come in no fixed order; sorted, equal runs draw equal numbers.
            batch = sorted((item for item in self._waiting if item[1] == params), key=lambda item: item[0])
            batch = batch[: self._max_batch]
            taken = {id(item) for item in batch}
            self._waiting = [item for item in self._waiting if id(item) not in taken]
            try:
                decoded = await asyncio.to_thread(self._decode, [item[0] for item in batch], dict(params))
            except (RuntimeError, ValueError, IndexError, GavelError) as error:
                for _, _, future in batch:
                    future.set_exception(error)
                continue
            for (_, _, future), result in zip(batch, decoded, strict=True):
                future.set_result(result)

    def _decode(self, prompts: list[list[int]], params: dict[str, Any]) -> list[Decoded]:
        return decode(
            self._model,
            prompts,
            max_tokens=self._max_tokens,
            stop_ids=frozenset([self._tokenizer.eos_token_id]),
            pad_id=self._tokenizer.pad_token_id,
            temperature=float(params["temperature"]),
            top_p=float(params["top_p"]),
            top_k=int(params["top_k"]),
            generator=self._generator,
        )

    async def weights_written(self, global_steps: int | None) -> None:
        """Note which step's weights the shared memory now holds, and make the draws depend on it."""
        self._global_steps = global_steps
        if global_steps is not None:
            # A resumed run draws what an uninterrupted one would have drawn at this step.
            self._generator.manual_seed(self._seed * 1_000_003 + global_steps)

    async def nothing(self, *_: Any, **__: Any) -> None:
        """For calls that only a server with device memory needs."""

    wake_up = sleep = clear_kv_cache = release_kv_cache = resume_kv_cache = nothing
    start_profile = stop_profile = resume_generation = abort_all_requests = nothing


class Replica(RolloutReplica):
    """One rollout server of a run."""

    async def launch_servers(self) -> None:
        options = {
            "name": f"{NAME}_server_{self.replica_rank}_0",
            "num_cpus": 0,
            "max_concurrency": self.max_concurrency,
        }
        handle = ray.remote(RolloutServer).options(**options).remote(self.config, self.model_config, self.replica_rank)
        # The layout file exists once the server answers.
        await handle.nothing.remote()
        self.servers, self._server_handle = [handle], handle
        self._server_address = f"{NAME}-{self.replica_rank}"


class ServerAdapter(BaseRollout):
    """The trainer worker's end: writes its weights where the server reads them."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        self._rank = int(os.environ["RANK"])
        self._shared: SharedWeights | None = None

    async def resume(self, tags: list[str]) -> None:
        """Nothing was released."""

    async def release(self) -> None:
        """Nothing to release."""

    @torch.no_grad()
    async def update_weights(
        self,
        weights: AsyncIterator[tuple[str, torch.Tensor]] | Iterator[tuple[str, torch.Tensor]],
        global_steps: int | None = None,
        wire_format: str = "named_tensors",
        **_: Any,
    ) -> None:
        """Write every named tensor, and tell the server of which step they are."""
        if wire_format != "named_tensors":
            raise ValueError(f"the CPU rollout takes named tensors, not {wire_format!r}")
        if self._shared is None:
            self._shared = SharedWeights(layout_file(self._rank))
        if isinstance(weights, AsyncIterator):
            async for name, tensor in weights:
                self._shared.write(name, tensor)
        else:
            for name, tensor in weights:
                self._shared.write(name, tensor)
        self._shared.finish()
        await ray.get_actor(f"{NAME}_server_{self._rank}_0").weights_written.remote(global_steps)


if NAME not in RolloutReplicaRegistry._registry:
    RolloutReplicaRegistry.register(NAME, lambda: Replica)
    rollout_base._ROLLOUT_REGISTRY[(NAME, "async")] = f"{__name__}.ServerAdapter"
