"""The teardown-judge component: see :mod:`components.teardown_judge.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def teardown_judge(experiment: str, store: str, code_version: str) -> None:
    """End the judge that this run started."""
    from components.core.step import kfp_step
    from components.teardown_judge.step import STEP

    kfp_step(STEP, experiment, store)
