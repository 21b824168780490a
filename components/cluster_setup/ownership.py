"""Which overlay brought an object: overlays have most of their objects in common."""

import copy
from collections.abc import Iterable

from components.cluster_setup.kubectl import Kubectl, SetupError
from components.cluster_setup.objects import Object, title
from components.cluster_setup.overlay import folder

OVERLAY = "gavel.dev/overlay"
"""The annotation. No label: a folder's name may be no label's value."""
_SHOWN = 5


def name_of(overlay: str) -> str:
    """The name of its folder, by whatever path it was given."""
    return folder(overlay).resolve().name


def with_overlay(objects: Iterable[Object], overlay: str) -> list[Object]:
    """The objects with the overlay's name in an annotation of theirs; pods and selectors get none."""
    made = copy.deepcopy(list(objects))
    for item in made:
        item["metadata"].setdefault("annotations", {})[OVERLAY] = name_of(overlay)
    return made


def check_owner(kubectl: Kubectl, objects: list[Object], overlay: str) -> None:
    """Refuse where another overlay brought some of the objects. Those without the annotation, as ``kubectl apply -k``
    makes them, are taken for this one's.

    Raises:
        SetupError: there are some.
    """
    mine = name_of(overlay)
    others: dict[str, list[str]] = {}
    for item in kubectl.present(objects):
        owner = (item["metadata"].get("annotations") or {}).get(OVERLAY, mine)
        if owner != mine:
            others.setdefault(str(owner), []).append(title(item))
    for owner, titles in others.items():
        more = f" and {len(titles) - _SHOWN} more" if len(titles) > _SHOWN else ""
        raise SetupError(
            f"overlay {owner} is deployed here, and {mine} has the same {', '.join(titles[:_SHOWN])}{more}",
            where=f"overlay {overlay}",
            remedy=f"make undeploy OVERLAY={owner}, or FORCE=1 to delete {owner}'s objects that {mine} has too",
        )
