"""One real verl worker on the CPU, without Ray: two updates, one mini-batch each; the second sees masked tokens alone.

Run as a process of its own, since verl reads its platform from the environment when it is imported. Prints JSON.
"""

import json
import os
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from verl.trainer.config import CheckpointConfig
from verl.utils import tensordict_utils as tu
from verl.workers.config import (
    ActorConfig,
    FSDPEngineConfig,
    FSDPOptimizerConfig,
    HFModelConfig,
    TrainingWorkerConfig,
)
from verl.workers.engine_workers import TrainingWorker
from verl.workers.utils.losses import ppo_loss

from components.engine.updates import ENGINE_MODULE
from components.models.tiny import write_tiny

PROMPT, RESPONSE = 3, 4


def worker(model: Path) -> Any:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    precision = {"param_dtype": "fp32", "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
    made = TrainingWorker(
        TrainingWorkerConfig(
            model_type="language_model",
            model_config=HFModelConfig(
                path=str(model),
                external_lib=ENGINE_MODULE,
                use_remove_padding=False,
                enable_gradient_checkpointing=False,
                override_config={"attn_implementation": "sdpa"},
            ),
            engine_config=FSDPEngineConfig(
                strategy="fsdp2",
                use_torch_compile=False,
                mixed_precision=precision,
                micro_batch_size_per_gpu=1,
                use_dynamic_bsz=False,
            ),
            optimizer_config=FSDPOptimizerConfig(lr=0.01, weight_decay=0.1, total_training_steps=10),
            checkpoint_config=CheckpointConfig(),
        )
    )
    made.reset()
    config = ActorConfig(
        strategy="fsdp2",
        rollout_n=1,
        ppo_mini_batch_size=2,
        ppo_micro_batch_size_per_gpu=1,
        use_kl_loss=True,
        kl_loss_coef=0.1,
    )
    made.set_loss_fn(partial(ppo_loss, config=config))
    return made


def batch(masks: list[list[int]]) -> Any:
    """One row a mask of a response, of as many rows to a mini-batch as the actor is told."""
    dice = torch.Generator().manual_seed(0)

    def nested(rows: list[torch.Tensor]) -> torch.Tensor:
        return torch.nested.as_nested_tensor(rows, layout=torch.jagged)

    count = len(masks)
    ids = [torch.randint(3, 40, (PROMPT + RESPONSE,), generator=dice) for _ in range(count)]
    mask = [torch.tensor(row) for row in masks]
    ours = {
        "input_ids": nested(ids),
        "prompts": nested([row[:PROMPT] for row in ids]),
        "responses": nested([row[PROMPT:] for row in ids]),
        "position_ids": nested([torch.arange(PROMPT + RESPONSE) for _ in ids]),
        "response_mask": nested(mask),
        "loss_mask": nested([row.clone() for row in mask]),
        "old_log_probs": nested([torch.full((RESPONSE,), -3.7) for _ in ids]),
        "ref_log_prob": nested([torch.full((RESPONSE,), -3.5) for _ in ids]),
        "advantages": nested([torch.full((RESPONSE,), 1.0 - 2.0 * (place % 2)) for place in range(count)]),
    }
    settings = {
        "temperature": 1.0,
        "calculate_entropy": False,
        "global_batch_size": 2,
        "mini_batch_size": 2,
        "epochs": 1,
        "seed": 1,
        "dataloader_kwargs": {"shuffle": False},
    }
    return tu.get_tensordict(ours, non_tensor_dict=settings)


def weights(made: Any) -> torch.Tensor:
    parameters = made.engine.module.parameters()
    values = [tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor for tensor in parameters]
    return torch.cat([value.detach().flatten() for value in values]).clone()


def main(folder: Path) -> None:
    write_tiny(folder / "model", seed=0)
    made = worker(folder / "model")
    whole, nothing = [1] * RESPONSE, [0] * RESPONSE
    found: dict[str, Any] = {"engine": type(made.engine).__name__, "steps": []}
    for masks in ([whole] * 2, [nothing] * 2, [whole] * 2 + [nothing] * 2):
        before = weights(made)
        metrics = tu.get(made.train_mini_batch(batch(masks)), "metrics")
        moved = (weights(made) - before).abs().max().item()
        steps = {int(state["step"]) for state in made.engine.optimizer.state.values()}
        found["steps"].append({"moved": moved, "optimizer": sorted(steps), "metrics": metrics})
    print("\n" + json.dumps(found, default=float))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
