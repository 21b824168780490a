"""The ifeval component: see :mod:`components.ifeval.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def ifeval(
    experiment: str,
    store: str,
    code_version: str,
    generations: dsl.Input[dsl.Dataset],
    results: dsl.Output[dsl.Metrics],
) -> None:
    """Score the answers to IFEval by its rules."""
    from components.core.step import kfp_step
    from components.ifeval.step import STEP

    kfp_step(STEP, experiment, store, inputs={"generations": generations}, output=results)
