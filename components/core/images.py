"""Container images of the steps, one a dependency set.

They come from the environment (``GAVEL_IMAGE_<NAME>``), or from the file that ``make images`` writes:
``build/images.json`` with ``{"tools": "registry/name@sha256:..."}``. The local runner uses the present
environment and ignores them.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from components.core.errors import ConfigError
from components.core.services.state import source_root

IMAGES = ("tools", "trainer", "serving", "evaluation", "cpu")
"""The last has everything for CPUs: it stands for the others on a cluster without GPUs."""
USER = 10001
"""User and group of every image, as a number: ``runAsNonRoot`` can check nothing else. Pods run as it, and it is the
group of the files on claims that several pods mount."""
FILE_VARIABLE = "GAVEL_IMAGES"
"""Names another images file."""
_VERSION = "0.1.0"
_DIGEST = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")
_TAG = re.compile(r"[^\s@]+:(?P<tag>\w[\w.-]{0,127})")


def image(name: str) -> str:
    """The image of a dependency set as components are declared with: ``$GAVEL_IMAGE_<NAME>``, or this version's tag.

    Raises:
        KeyError: there is no such set.
    """
    if name not in IMAGES:
        raise KeyError(f"no image {name!r}; known: {', '.join(IMAGES)}")
    return os.environ.get(variable(name)) or f"gavel/{name}:{_VERSION}"


def pinned(
    names: Iterable[str],
    *,
    accelerator: str = "gpu",
    cpu_for_tools: bool = False,
    allow_tags: bool = False,
    file: Path | None = None,
) -> dict[str, str]:
    """The images of a compiled pipeline, by name.

    Args:
        names: dependency sets.
        accelerator: with ``cpu``, the image ``cpu`` stands for the others where it is known; that of ``tools`` stays.
        cpu_for_tools: whatever the accelerator, ``cpu`` stands for ``tools`` where only that was built.
        allow_tags: whether tags will do (never ``latest``), as for a cluster that images were loaded into by hand.
        file: what ``make images`` wrote; by default ``$GAVEL_IMAGES``, or ``build/images.json`` of this checkout.

    Raises:
        ConfigError: images have no digest, or names that are none (all of them are told), or the file cannot be used.
    """
    path = file or Path(os.environ.get(FILE_VARIABLE) or source_root() / "build" / "images.json")
    known = _read(path)
    found, unknown, wrong = {}, [], {}
    for name in sorted(set(names)):
        candidates = [name]
        if name == "tools" and (cpu_for_tools or accelerator != "gpu"):
            candidates = ["tools", "cpu"]
        elif accelerator != "gpu":
            candidates = ["cpu", name]
        try:
            ref = _one(candidates, known, path, allow_tags=allow_tags)
        except ConfigError as error:
            wrong[error.what] = error
            continue
        if ref is None:
            unknown.append(candidates)
        else:
            found[name] = ref
    errors = list(wrong.values()) + ([_unknown(unknown, path)] if unknown else [])
    if errors:
        raise _together(errors)
    return found


def variable(name: str) -> str:
    """The environment variable that names an image."""
    return f"GAVEL_IMAGE_{name.upper()}"


def _one(candidates: list[str], known: Mapping[str, str], path: Path, *, allow_tags: bool) -> str | None:
    ways = _ways([candidates])
    for name in candidates:
        if given := os.environ.get(variable(name)):
            return _checked(given, variable(name), ways, allow_tags=allow_tags)
        if listed := known.get(name):
            return _checked(listed, str(path), ways, allow_tags=allow_tags)
    return image(candidates[0]) if allow_tags else None


def _ways(sets: Iterable[list[str]]) -> str:
    variables = ", ".join(" or ".join(map(variable, candidates)) for candidates in sets)
    return f"run make images, or set {variables} to registry/name@sha256:..."


def _unknown(sets: list[list[str]], path: Path) -> ConfigError:
    names = ", ".join(" or ".join(candidates) for candidates in sets)
    remedy = f"{_ways(sets)}; ALLOW_TAGS=1 names images by this version's tag, for a cluster that they are loaded into "
    return ConfigError(f"no image with a digest is known for {names}", where=str(path), remedy=remedy + "by hand")


def _together(errors: list[ConfigError]) -> ConfigError:
    """One error for all images; what several have in common is said once."""
    whats, wheres, remedies = (
        list(dict.fromkeys(parts))
        for parts in zip(*((error.what, error.where, error.remedy) for error in errors), strict=True)
    )
    return ConfigError("\n    ".join(whats), where=", ".join(wheres), remedy="\n    ".join(remedies))


def _checked(found: str, where: str, ways: str, *, allow_tags: bool) -> str:
    if _DIGEST.fullmatch(found):
        return found
    tag = _TAG.fullmatch(found)
    if tag is None:
        raise ConfigError(
            f"the image {found!r} has neither digest nor tag, which means latest", where=where, remedy=ways
        )
    if tag["tag"] == "latest":
        raise ConfigError(f"the image {found!r} is another one from day to day", where=where, remedy=ways)
    if not allow_tags:
        remedy = f"{ways}; ALLOW_TAGS=1 takes the tag as it is"
        raise ConfigError(
            f"the image {found!r} has a tag, which can be moved, and no digest", where=where, remedy=remedy
        )
    return found


def _read(path: Path) -> Mapping[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the images file cannot be read: {error}", where=str(path), remedy="run make images again"
        ) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise ConfigError('the images file is no map {"tools": "..."}', where=str(path), remedy="run make images again")
    return found
