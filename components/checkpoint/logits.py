"""Is the merged model the one that was trained? Both compute logits on the same token sequences."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from components.checkpoint.adapter import Adapter, has_adapter, split_adapter
from components.checkpoint.shards import full_state
from components.core.errors import StepError
from components.models.finite import non_finite
from components.models.loading import load_model

SEQUENCES, LENGTH, SEED = 6, 24, 20
TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2}
"""Largest difference of a logit, relative to the largest logit. In float32 the weights are the same, and adapters are
multiplied out in another order. In bfloat16 each weight is rounded to eight significant bits, which moves the logits of
SmolLM2-135M (30 layers) by up to 1.3e-2."""


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """Logits of the merged model against the trainer's weights, computed in float32.

    Attributes:
        difference: largest difference of a logit, relative to the largest trained logit.
        adapter: the same between the trained weights and the base below the adapters; None without adapters.
        lost: share of the adapters' effect that rounding took: norm of the merged model's error over that of the
            effect, which is above 1 where rounding moved the logits more than the training; None without adapters, or
            where they have no effect.
    """

    difference: float
    adapter: float | None
    lost: float | None = None


def verify(checkpoint: Path, model: Path, dtype: str) -> Agreement:
    """Compare the logits of both, and hold a merged adapter against its base.

    Args:
        checkpoint: the actor's folder, with shards of any number of ranks.
        model: the merged Hugging Face folder.
        dtype: ``float32`` or ``bfloat16``; of the merged weights.

    Raises:
        StepError: the merged model is not whole, weights or logits are not finite, the logits differ by more than the
            tolerance, or adapters changed nothing though they are not zero.
    """
    state = full_state(checkpoint)
    adapter = split_adapter(state, checkpoint) if has_adapter(state) else None
    trained, base = _trained_logits(checkpoint / "huggingface", state if adapter is None else adapter.base, adapter)
    # Whole models in float32 are large, and one at a time is enough.
    del state
    merged = _logits(_load(model, None), model)
    scale = float(trained.abs().max())
    effect = 0.0 if base is None else float((trained - base).norm())
    found = Agreement(
        float((merged - trained).abs().max()) / scale,
        None if base is None else float((trained - base).abs().max()) / scale,
        float((merged - trained).norm()) / effect if effect > 0 else None,
    )
    # A number that is none compares as False.
    if not found.difference <= TOLERANCE[dtype]:
        raise StepError(
            f"logits of the merged model differ from the trained ones by {found.difference:.2g} of the largest, more "
            f"than {TOLERANCE[dtype]:g}",
            where=str(model),
            remedy="the merge lost something of the training; keep the checkpoint and report this",
        )
    if adapter is not None and not adapter.is_zero and not _changed(adapter, model):
        raise StepError(
            "the merged model is the base: of the trained adapters nothing is in it",
            where=str(model),
            remedy="in bfloat16 a short training can be smaller than the rounding: set policy.dtype: float32"
            if dtype == "bfloat16"
            else "the merge lost the adapters; keep the checkpoint and report this",
        )
    return found


def token_sequences(vocabulary: int) -> torch.Tensor:
    """Fixed token ids, shape (SEQUENCES, LENGTH): the same for every model with that vocabulary."""
    return torch.randint(0, vocabulary, (SEQUENCES, LENGTH), generator=torch.Generator().manual_seed(SEED))


def _trained_logits(
    config: Path, weights: Mapping[str, torch.Tensor], adapter: Adapter | None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Logits of the trainer's weights, and of the base alone where there are adapters."""
    model = _load(config, weights)
    if adapter is None:
        return _logits(model, config.parent), None
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict

    adapted = get_peft_model(model, LoraConfig(r=adapter.rank, lora_alpha=adapter.alpha, target_modules=adapter.layers))
    result = set_peft_model_state_dict(adapted, {name: tensor.float() for name, tensor in adapter.weights.items()})
    if result.unexpected_keys:
        raise StepError(f"adapters without a place in the model: {sorted(result.unexpected_keys)[:3]}")
    with adapted.disable_adapter():
        base = _logits(adapted, config.parent)
    return _logits(adapted, config.parent), base


def _load(folder: Path, weights: Mapping[str, torch.Tensor] | None) -> Any:
    """The architecture of ``folder`` in float32, with its own weights or the given ones."""
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.initialization import no_init_weights
    from transformers.utils import logging

    logging.disable_progress_bar()
    if weights is None:
        return load_model(folder, torch.float32)
    with no_init_weights():
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
    tied = set(model.state_dict()) - set(dict(model.named_parameters())) - set(dict(model.named_buffers()))
    result = model.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, strict=False)
    missing = sorted(set(result.missing_keys) - tied)
    if missing or result.unexpected_keys:
        raise StepError(
            f"the trainer's weights do not fit its own config.json: missing {missing[:3]}, not known "
            f"{sorted(result.unexpected_keys)[:3]}",
            where=str(folder),
        )
    return model


def _logits(model: Any, where: Path) -> torch.Tensor:
    with torch.inference_mode():
        found = torch.as_tensor(model.eval()(token_sequences(model.config.vocab_size)).logits)
    if not bool(torch.isfinite(found).all()):
        raise non_finite(where)
    return found


def _changed(adapter: Adapter, model: Path) -> bool:
    """Whether a merged weight differs from the base's in any adapted layer."""
    from safetensors import safe_open

    wanted = {f"{layer}.weight" for layer in adapter.layers}
    for file in sorted(model.glob("*.safetensors")):
        with safe_open(file, framework="pt") as merged:
            for name in wanted & set(merged.keys()):
                tensor = merged.get_tensor(name)
                if not torch.equal(tensor, adapter.base[name].to(tensor.dtype)):
                    return True
    return False
