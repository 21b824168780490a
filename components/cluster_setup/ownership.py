"""Which overlay brought an object: overlays have most of their objects in common."""

import copy
from collections.abc import Callable, Iterable

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


def note_others(kubectl: Kubectl, objects: list[Object], overlay: str, say: Callable[[str], None]) -> None:
    """Tell what deploying makes this overlay's that another one brought."""
    mine = name_of(overlay)
    for owner, titles in _others(kubectl, objects, mine).items():
        say(
            f"note: overlay {owner} is deployed here. {len(titles)} objects that both have become {mine}'s "
            f"({_listed(titles)}); what {owner} alone has stays beside them. If you meant to change overlays: "
            f"make undeploy OVERLAY={owner} FORCE=1, then deploy {mine} again"
        )


def check_owner(kubectl: Kubectl, objects: list[Object], overlay: str) -> None:
    """Refuse where another overlay brought some of the objects. Those without the annotation, as ``kubectl apply -k``
    makes them, are taken for this one's.

    Raises:
        SetupError: there are some.
    """
    mine = name_of(overlay)
    for owner, titles in _others(kubectl, objects, mine).items():
        raise SetupError(
            f"overlay {owner} is deployed here, and {mine} has the same {_listed(titles)}",
            where=f"overlay {overlay}",
            remedy=f"make undeploy OVERLAY={owner}, or FORCE=1 to delete {owner}'s objects that {mine} has too",
        )


def _others(kubectl: Kubectl, objects: list[Object], mine: str) -> dict[str, list[str]]:
    """Titles of the objects that are there and are another overlay's, by its name."""
    others: dict[str, list[str]] = {}
    for item in kubectl.present(objects):
        owner = (item["metadata"].get("annotations") or {}).get(OVERLAY, mine)
        if owner != mine:
            others.setdefault(str(owner), []).append(title(item))
    return others


def _listed(titles: list[str]) -> str:
    more = f" and {len(titles) - _SHOWN} more" if len(titles) > _SHOWN else ""
    return f"{', '.join(titles[:_SHOWN])}{more}"
