"""The merge-checkpoint component: see :mod:`components.checkpoint.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("trainer"), install_kfp_package=False)
def merge_checkpoint(
    experiment: str, store: str, code_version: str, training: dsl.Input[dsl.Model], model: dsl.Output[dsl.Model]
) -> None:
    """Merge the trainer's checkpoint into one model folder."""
    from components.checkpoint.step import STEP
    from components.core.step import kfp_step

    kfp_step(STEP, experiment, store, inputs={"training": training}, output=model)


@dsl.component(base_image=image("trainer"), install_kfp_package=False)
def import_model(experiment: str, store: str, code_version: str, checkpoint: str, model: dsl.Output[dsl.Model]) -> None:
    """Merge a checkpoint that lies anywhere; a model that is merged already is taken as it is."""
    from components.checkpoint.given import import_step
    from components.core.step import kfp_step

    kfp_step(import_step(checkpoint), experiment, store, output=model)
