"""The deploy-judge component: see :mod:`components.deploy_judge.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def deploy_judge(experiment: str, store: str, code_version: str) -> None:
    """Start the judge, or find it running."""
    from components.core.step import kfp_step
    from components.deploy_judge.step import STEP

    kfp_step(STEP, experiment, store)
