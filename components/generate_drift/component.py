"""The generate-drift component: see :mod:`components.generate_drift.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("trainer"), install_kfp_package=False)
def generate_drift(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    training: dsl.Input[dsl.Model],
    generations: dsl.Output[dsl.Dataset],
) -> None:
    """Answer the held-out prompts by the checkpoints of a training."""
    from components.core.step import kfp_step
    from components.generate_drift.step import STEP

    kfp_step(STEP, experiment, store, inputs={"data": data, "training": training}, output=generations)
