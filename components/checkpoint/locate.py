"""What lies in a folder that someone calls a checkpoint."""

import dataclasses
import re
import zipfile
from pathlib import Path

from components.core.errors import StepError
from components.models.weight_files import weight_files

_SHARD = re.compile(r"model_world_size_(\d+)_rank_(\d+)\.pt")
_INSIDE = ("actor", "checkpoint", "model")
"""Where verl, the step train-grpo and the step merge-checkpoint put what is looked for."""


@dataclasses.dataclass(frozen=True, slots=True)
class Located:
    """A folder of weights.

    Attributes:
        folder: with the shards, or with config.json and weights.
        merged: whether it is a Hugging Face folder already.
    """

    folder: Path
    merged: bool


def locate(folder: Path) -> Located:
    """The weights in ``folder``: verl's ``global_step_N`` or ``actor``, a published training or model, or a Hugging
    Face folder.

    Raises:
        StepError: there is no such folder, nothing of the kind in it, or a checkpoint or model that was not written to
            its end.
    """
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "there is no such folder"
        raise StepError(
            f"no checkpoint: {what}",
            where=str(folder),
            remedy="name a folder such as .../global_step_20, .../actor, or a published one",
        )
    for place in (folder, *(folder / name for name in _INSIDE)):
        if any(place.glob("model_world_size_*")):
            check_whole(place)
            return Located(place, merged=False)
        if (place / "config.json").is_file():
            weight_files(place)
            return Located(place, merged=True)
    if re.fullmatch(r"global_step_\d+", folder.name) or folder.name == "actor":
        raise half_written(folder, "it has no shard model_world_size_W_rank_R.pt")
    steps = sorted(folder.glob("global_step_*"), key=lambda path: (len(path.name), path.name))
    newest = f"; the newest checkpoint below it is {steps[-1]}" if steps else ""
    raise StepError(
        "the folder has neither shards of a trainer (model_world_size_W_rank_R.pt) nor a model (config.json)",
        where=str(folder),
        remedy=f"name the folder of one checkpoint or model{newest}",
    )


def check_whole(folder: Path) -> list[Path]:
    """The shards of all ranks, in their order.

    Raises:
        StepError: a rank's shard or a file beside them is missing, or a shard was cut short.
    """
    found: dict[int, dict[int, Path]] = {}
    for path in folder.glob("model_world_size_*"):
        if match := _SHARD.fullmatch(path.name):
            found.setdefault(int(match[1]), {})[int(match[2])] = path
    if len(found) != 1:
        sizes = ", ".join(map(str, sorted(found))) or "none"
        raise StepError(f"shards of one world size are expected, found: {sizes}", where=str(folder))
    (world, ranks), *_ = found.items()
    missing = sorted(set(range(world)) - set(ranks))
    if missing:
        raise half_written(folder, f"of {world} ranks the shards of {missing} are missing")
    for name in ("fsdp_config.json", "huggingface/config.json"):
        if not (folder / name).is_file():
            raise half_written(folder, f"it has no {name}")
    for rank in range(world):
        if not zipfile.is_zipfile(ranks[rank]):
            raise half_written(folder, f"{ranks[rank].name} was cut short")
    return [ranks[rank] for rank in range(world)]


def half_written(folder: Path, what: str) -> StepError:
    """The error of a checkpoint that a kill or a full disk left behind."""
    return StepError(
        f"the checkpoint is not whole: {what}",
        where=str(folder),
        remedy="take an older checkpoint of this training; a resumed training removes what is not whole",
    )
