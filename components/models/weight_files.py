"""Are a model folder's files of weights whole? Their headers are read, and no weight."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.errors import StepError

_SINGLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLED, _PICKLED_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
_LENGTH = 8
"""Bytes at the start of a safetensors file that give the header's length."""

_LONGEST_HEADER = 100_000_000
"""Bytes; safetensors itself refuses more."""

REMEDY = "copy or download the whole model folder again"


def weight_files(folder: Path) -> list[Path]:
    """The files that a model is loaded from, whole as far as their headers and the index say.

    Args:
        folder: in Hugging Face layout, with safetensors or, where there are none, pickled weights.

    Raises:
        StepError: there are no weights, or a file is missing, cut short, or lacks a tensor of the index.
    """
    if (folder / _SINGLE).is_file():
        tensors(folder / _SINGLE)
        return [folder / _SINGLE]
    if (folder / _INDEX).is_file():
        return _indexed(folder, folder / _INDEX, tensors)
    if (folder / _PICKLED).is_file():
        _check_pickled(folder / _PICKLED)
        return [folder / _PICKLED]
    if (folder / _PICKLED_INDEX).is_file():
        return _indexed(folder, folder / _PICKLED_INDEX, _check_pickled)
    raise StepError(
        f"the folder has config.json and no weights ({_SINGLE}, or {_INDEX} with its files)",
        where=str(folder),
        remedy="copy the whole model folder",
    )


def tensors(path: Path) -> Mapping[str, Any]:
    """The header of a safetensors file: dtype, shape and place of each tensor by its name.

    Raises:
        StepError: the file is no safetensors file, or was cut short.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(_LENGTH), "little")
        if size < _LENGTH or length > min(size - _LENGTH, _LONGEST_HEADER):
            raise _broken(path, f"of {size} bytes, which is no safetensors file, or the beginning of one")
        try:
            header = json.loads(stream.read(length))
            header.pop("__metadata__", None)
            end = max((int(entry["data_offsets"][1]) for entry in header.values()), default=0)
        except (ValueError, AttributeError, TypeError, KeyError, IndexError) as error:
            raise _broken(path, f"with a header that cannot be read ({error!r})") from error
    if size != _LENGTH + length + end:
        raise _broken(path, f"of {size} bytes, and its header speaks of {_LENGTH + length + end}: it was cut short")
    found: Mapping[str, Any] = header
    return found


def _indexed(folder: Path, index: Path, read: Any) -> list[Path]:
    try:
        places: dict[str, str] = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        names = sorted(set(places.values()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise _broken(index, f"that cannot be read ({error!r})") from error
    absent = [name for name in names if not (folder / name).is_file()]
    if absent or not names:
        raise StepError(
            f"of {len(names)} files of weights that the index names, {len(absent)} are missing: {absent[:3]}",
            where=str(index),
            remedy=REMEDY,
        )
    for name in names:
        held = read(folder / name)
        lost = sorted(key for key, file in places.items() if file == name and held is not None and key not in held)
        if lost:
            raise StepError(
                f"{len(lost)} weights are not in the file that the index names: {lost[:3]}",
                where=str(folder / name),
                remedy=REMEDY,
            )
    return [folder / name for name in names]


def _check_pickled(path: Path) -> None:
    """Torch writes a zip archive, whose end is its directory; before 1.6 it wrote bare pickles."""
    with path.open("rb") as stream:
        start = stream.read(2)
    if start != b"\x80\x02" and not zipfile.is_zipfile(path):
        raise _broken(path, f"of {path.stat().st_size} bytes, which is no torch file, or the beginning of one")


def _broken(path: Path, what: str) -> StepError:
    return StepError(f"the model is not whole: {path.name} is a file {what}", where=str(path), remedy=REMEDY)
