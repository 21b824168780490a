"""A causal language model from a folder, with every weight from its files: none missing, left over, or not a number."""

import pickle
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from components.core.errors import StepError
from components.models.weight_files import REMEDY, weight_files

_SHOWN = 3
_BYTES = (torch.float8_e4m3fn, torch.float8_e5m2)


def load_model(folder: Path, dtype: str | torch.dtype = torch.float32, **options: Any) -> PreTrainedModel:
    """Load the model in ``folder`` in evaluation mode, from this machine alone.

    transformers fills weights that the files lack with random numbers, and passes over those that it does not know;
    here both are errors. What the architecture itself ties or leaves out does not count.

    Args:
        folder: in Hugging Face layout.
        dtype: of the weights in memory.
        options: further arguments of ``from_pretrained``.

    Raises:
        StepError: files are not whole, weights are missing, unknown or of another shape, or some are not finite.
    """
    weight_files(folder)
    model = _load(folder, dtype=dtype, **options)
    check_finite(dict(model.named_parameters()).items(), folder)
    return model.eval()


def check_model(folder: Path) -> None:
    """What :func:`load_model` checks, for a model that something else will load; one tensor at a time is in memory.

    Names and shapes of quantised weights, and of architectures that transformers has no causal language model for, are
    left to whoever loads them.

    Raises:
        StepError: as :func:`load_model`.
    """
    files = weight_files(folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise _unreadable(folder, error) from error
    if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and getattr(config, "quantization_config", None) is None:
        _load(folder, dtype=torch.float32, device_map="meta")
    for file in files:
        check_finite(_stored(file), folder)


def check_finite(
    weights: Iterable[tuple[str, torch.Tensor]],
    where: Path,
    *,
    subject: str = "weights",
    because: str = "",
    remedy: str = "",
) -> None:
    """Refuse weights that are NaN or infinite.

    Args:
        weights: by name.
        where: the model.
        subject: what the weights are called.
        because: ends the message.
        remedy: what to do about it.

    Raises:
        StepError: there are some; with the names of the first.
    """
    bad = [name for name, tensor in weights if tensor.is_floating_point() and not _is_finite(tensor)]
    if bad:
        raise StepError(
            f"{_listed(bad)} hold NaN or infinite {subject}{because}",
            where=str(where),
            remedy=remedy
            or "take another checkpoint: a training that diverged leaves such weights, and so does a "
            "conversion to a dtype of too small a range",
        )


def _is_finite(tensor: torch.Tensor) -> bool:
    if tensor.element_size() == 1:
        # These have no isfinite of their own; the smaller types that are packed into bytes have no NaN.
        return tensor.dtype not in _BYTES or bool(torch.isfinite(tensor.float()).all())
    return bool(torch.isfinite(tensor).all())


def _load(folder: Path, **options: Any) -> PreTrainedModel:
    try:
        # Other shapes are told below, together with the rest.
        model, found = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, output_loading_info=True, ignore_mismatched_sizes=True, **options
        )
    except (OSError, ValueError, RuntimeError, EOFError, SafetensorError, pickle.UnpicklingError) as error:
        raise _unreadable(folder, error) from error
    _check_names(folder, found)
    loaded: PreTrainedModel = model
    return loaded


def _check_names(folder: Path, found: Mapping[str, Collection[Any]]) -> None:
    shapes = [f"{name} (file {list(file)}, model {list(model)})" for name, file, model in found["mismatched_keys"]]
    problems = [
        f"{what}: {_listed(names)}"
        for what, names in (
            ("missing", found["missing_keys"]),
            ("not known to the model", found["unexpected_keys"]),
            ("of another shape", shapes),
        )
        if names
    ]
    if problems:
        raise StepError(
            f"the weights do not fit the model of config.json; {'; '.join(problems)}",
            where=str(folder),
            remedy=f"{REMEDY}; if it is whole, its config.json is of another model, or its weights were renamed",
        )


def _stored(file: Path) -> Iterable[tuple[str, torch.Tensor]]:
    if file.suffix != ".safetensors":
        yield from torch.load(file, map_location="cpu", weights_only=True).items()
        return
    with safe_open(file, framework="pt") as opened:
        for name in opened.keys():  # noqa: SIM118  (safe_open offers no iteration)
            yield name, opened.get_tensor(name)


def _unreadable(folder: Path, error: Exception) -> StepError:
    lines = str(error).strip().splitlines() or [repr(error)]
    return StepError(f"the model cannot be loaded: {lines[0]}", where=str(folder), remedy=REMEDY)


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(sorted(names)[:_SHOWN])
    rest = len(names) - _SHOWN
    return f"{len(names)} tensors ({shown}{f' and {rest} more' if rest > 0 else ''})"
