"""The resolve component: see :mod:`components.resolve.resolving` for the work."""

from typing import NamedTuple

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def resolve(
    experiment: str, judge: str, seed: str, start_from: str, store: str, code_version: str, base: str = ""
) -> NamedTuple(  # type: ignore[valid-type]
    "Resolved", [("experiment", str), ("store", str), ("ifeval", bool), ("base", bool), ("judged", bool)]
):
    """Look up every name of the experiment once, for all other tasks."""
    from components.core.request import Request
    from components.resolve.resolving import kfp_resolve

    return tuple(kfp_resolve(Request(experiment, judge, seed, start_from), store, base))
