"""The generate-ifeval component: see :mod:`components.generate_ifeval.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def generate_ifeval(
    experiment: str,
    store: str,
    code_version: str,
    model: dsl.Input[dsl.Model],
    generations: dsl.Output[dsl.Dataset],
) -> None:
    """Answer the prompts of IFEval."""
    from components.core.step import kfp_step
    from components.generate_ifeval.step import STEP

    kfp_step(STEP, experiment, store, inputs={"model": model}, output=generations)
