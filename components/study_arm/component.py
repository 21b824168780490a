"""The components that open and close an arm: see :mod:`components.study_arm.opening` for the work."""

from typing import NamedTuple

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def study_arms(study: str, store: str, code_version: str) -> NamedTuple(  # type: ignore[valid-type]
    "Opened", [("arms", list), ("scorers", list), ("store", str)]
):
    """Expand the study into its arms."""
    from components.study_arm.opening import open_study

    return tuple(open_study(study, store))


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def resolve_arm(study: str, arm: str, store: str, code_version: str) -> NamedTuple(  # type: ignore[valid-type]
    "OpenedArm", [("experiment", str), ("store", str), ("drift", bool)]
):
    """Look up everything of one arm."""
    from components.study_arm.opening import open_arm

    return tuple(open_arm(study, arm, store))


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def record_arm(
    study: str,
    arm: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    training: dsl.Input[dsl.Model],
    generations: dsl.Input[dsl.Dataset],
    scores: dsl.Input[dsl.Dataset],
    drift: dsl.Input[dsl.Dataset] = None,
    drift_scores: dsl.Input[dsl.Dataset] = None,
) -> None:
    """Write down where the results of the arm lie."""
    from components.study_arm.opening import close_arm

    found = {"data": data, "training": training, "generations": generations, "scores": scores}
    close_arm(study, arm, store, {**found, "drift": drift, "drift_scores": drift_scores})
