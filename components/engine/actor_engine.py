"""The policy's engine: verl's own, except that a mini-batch without a single token to train on makes no update, and
that log-probabilities are computed in blocks of tokens.

verl imports this module into its workers through ``actor_rollout_ref.model.external_lib``, and takes the engine by the
vendor that the environment names.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed
from tensordict import TensorDict
from verl.utils import tensordict_utils as tu
from verl.utils.device import get_device_id
from verl.utils.metric import AggregationType, Metric
from verl.workers.engine.base import EngineRegistry
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead

from components.engine.logprobs import install
from components.engine.updates import RUNNING, VENDOR

install()

_MASKS = ("loss_mask", "response_mask")
"""verl divides by the tokens of the first and sums over those of the second."""


@EngineRegistry.register(model_type="language_model", backend=["fsdp", "fsdp2"], device="cuda", vendor=VENDOR)
class ActorEngine(FSDPEngineWithLMHead):  # type: ignore[misc]
    """See the module. The optimizer, its momentum and the weights stay as they are where there is nothing to learn."""

    _updates = 0
    _skipped = 0

    def train_batch(self, data: TensorDict, loss_function: Callable[..., Any]) -> dict[str, Any]:
        """Update the weights on one mini-batch, or leave them alone when all of its tokens are masked, on all ranks.

        Returns:
            verl's outputs, and among the metrics this step's updates so far and how many of them were left out.
        """
        trains = self._has_tokens(data)
        self._updates += 1
        self._skipped += not trains
        outputs: dict[str, Any] = super().train_batch(data, loss_function) if trains else self._nothing()
        if self.is_mp_src_rank_with_outputs():
            counts = dict(zip(RUNNING, (self._updates, self._skipped), strict=True))
            outputs["metrics"] |= {
                name: Metric(value=float(count), aggregation=AggregationType.MAX) for name, count in counts.items()
            }
        if tu.get(data, key="update_lr_scheduler", default=False):
            # verl's mark of a step's last mini-batch.
            self._updates = self._skipped = 0
        return outputs

    def _has_tokens(self, data: TensorDict) -> bool:
        """Whether any rank has a token to train on; the ranks agree, since each takes part in the others' sums."""
        counts = torch.stack([data[name].sum() for name in _MASKS]).to(get_device_id())
        torch.distributed.all_reduce(counts, group=self.get_data_parallel_group())
        return bool((counts > 0).all().item())

    def _nothing(self) -> dict[str, Any]:
        self.optimizer_zero_grad()
        return {"model_output": {}, "loss": [], "metrics": {}}
