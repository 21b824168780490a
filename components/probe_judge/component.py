"""The probe-judge component: see :mod:`components.probe_judge.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def probe_judge(experiment: str, store: str, code_version: str) -> None:
    """Ask the judge real questions before anything depends on it."""
    from components.core.step import kfp_step
    from components.probe_judge.step import STEP

    kfp_step(STEP, experiment, store)
