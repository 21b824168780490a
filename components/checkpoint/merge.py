"""verl's merger, and what it leaves undone."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from components.checkpoint.adapter import META
from components.core.errors import StepError

_ADAPTER = "lora_adapter"


def merge(checkpoint: Path, target: Path, environment: Mapping[str, str], log: Path, *, dtype: str) -> None:
    """Merge FSDP shards into a Hugging Face folder.

    For a LoRA checkpoint verl's merger writes the untouched base beside the adapter (seen in 0.9.1), so the adapter is
    merged here.

    Args:
        checkpoint: the actor's folder: shards, fsdp_config.json, huggingface/.
        target: a folder to make; an older one is replaced.
        environment: that verl runs in.
        log: file for the merger's output.
        dtype: float32 keeps the trainer's weights as they are; with bfloat16 they are rounded, adapters after they
            were merged.

    Raises:
        StepError: the merger failed.
    """
    shutil.rmtree(target, ignore_errors=True)
    exact = dtype == "float32" or (checkpoint / META).is_file()
    module = "components.checkpoint.verl_merge" if exact else "verl.model_merger"
    command = [sys.executable, "-m", module, "merge", "--backend", "fsdp"]
    command += ["--local_dir", str(checkpoint), "--target_dir", str(target)]
    with log.open("w") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=dict(environment), check=False)
    if done.returncode != 0 or not (target / "config.json").is_file():
        tail = log.read_text(errors="replace").strip().splitlines()[-3:]
        raise StepError(f"verl's merger failed: {' | '.join(tail)}", where=f"{checkpoint} (log: {log})")
    if (target / _ADAPTER).is_dir():
        _merge_adapter(target, dtype)


def _merge_adapter(folder: Path, dtype: str) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoTokenizer

    from components.models.loading import load_model

    base = load_model(folder, torch.float32)
    merged = PeftModel.from_pretrained(base, folder / _ADAPTER).merge_and_unload()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    scratch = folder.with_name(f"{folder.name}.merged")
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        merged.to(getattr(torch, dtype)).save_pretrained(scratch)
        tokenizer.save_pretrained(scratch)
        shutil.rmtree(folder)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
