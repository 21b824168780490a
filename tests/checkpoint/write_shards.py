"""Writes a checkpoint as verl's FSDP manager does on several ranks; started once for each of them.

RANK=0 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=... python write_shards.py WEIGHTS FOLDER
"""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from peft import LoraConfig, get_peft_model
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import AutoConfig, AutoModelForCausalLM


def main(weights: Path, folder: Path) -> None:
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo")
    state = torch.load(weights)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder / "huggingface"), dtype=torch.float32)
    if any("lora_" in name for name in state):
        model = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))
    model.load_state_dict(state)
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("fsdp",))
    for layer in model.get_submodule("base_model.model.model" if hasattr(model, "peft_config") else "model").layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    torch.save(model.state_dict(), folder / f"model_world_size_{world}_rank_{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
