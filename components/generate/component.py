"""The generate component: see :mod:`components.generate.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def generate(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    model: dsl.Input[dsl.Model],
    generations: dsl.Output[dsl.Dataset],
    base: bool = True,
) -> None:
    """Answer the held-out prompts, with ``base`` also by the policy before training."""
    from components.core.step import kfp_step
    from components.generate.step import ALONE, STEP

    kfp_step(STEP if base else ALONE, experiment, store, inputs={"data": data, "model": model}, output=generations)
