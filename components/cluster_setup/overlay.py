"""The objects of an overlay, with this checkout's images and the cluster's own addresses put in."""

import copy
import re
from collections.abc import Iterable
from pathlib import Path

from components.cluster_setup.addresses import Address, egress
from components.cluster_setup.kubectl import Kubectl, SetupError
from components.cluster_setup.objects import Object, containers
from components.core.images import pinned
from components.core.services.state import source_root

_OURS = re.compile(r"gavel/(?P<name>[a-z]+):[\w.-]+")
_FILL = "gavel.dev/fill"


def folder(overlay: str, root: Path | None = None) -> Path:
    """The kustomize folder of an overlay: one of manifests/overlays by name, or any folder by its path.

    Raises:
        SetupError: there is none.
    """
    known = (root or source_root()) / "manifests" / "overlays"
    for found in (known / overlay, Path(overlay)) if overlay else ():
        if (found / "kustomization.yaml").is_file():
            return found
    names = ", ".join(sorted(item.name for item in known.iterdir())) if known.is_dir() else "none"
    raise SetupError(
        f"there is no overlay {overlay!r}" if overlay else "no overlay is named",
        where=str(known),
        remedy=f"set OVERLAY to one of {names}, or to a folder with a kustomization.yaml",
    )


def build(kubectl: Kubectl, overlay: str) -> list[Object]:
    """What the overlay describes, as it stands in the tree."""
    return kubectl.build(folder(overlay))


def our_images(objects: Iterable[Object]) -> set[str]:
    """The dependency sets whose images the objects' pods run."""
    found = (_OURS.fullmatch(str(item.get("image"))) for each in objects for item in containers(each))
    return {match["name"] for match in found if match}


def with_images(objects: list[Object], *, allow_tags: bool = False, file: Path | None = None) -> list[Object]:
    """The objects with the images of build/images.json (``make images``) in place of ``gavel/NAME:VERSION``.

    Raises:
        ConfigError: images have no digest, and tags are not allowed; all of them are named.
    """
    # The light image may be the CPU one where only that was built; the others may not stand for each other.
    refs = pinned(our_images(objects), cpu_for_tools=True, allow_tags=allow_tags, file=file)
    made = copy.deepcopy(objects)
    for each in made:
        for item in containers(each):
            if match := _OURS.fullmatch(str(item.get("image"))):
                item["image"] = refs[match["name"]]
    return made


def with_addresses(objects: list[Object], servers: Iterable[Address]) -> list[Object]:
    """The objects with the API server's addresses in the policies that ask for them by annotation."""
    rules = egress(servers)
    made = copy.deepcopy(objects)
    for each in made:
        if (each["metadata"].get("annotations") or {}).get(_FILL) == "api-server":
            each["spec"]["egress"] = rules
    return made


def loose_images(objects: Iterable[Object]) -> set[str]:
    """Images of others that have a tag alone."""
    images = {str(item["image"]) for each in objects for item in containers(each)}
    return {image for image in images if "@sha256:" not in image and not _OURS.fullmatch(image)}
