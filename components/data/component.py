"""The prepare-data component: see :mod:`components.data.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def prepare_data(experiment: str, store: str, code_version: str, data: dsl.Output[dsl.Dataset]) -> None:
    """Turn the data source into training and held-out prompts."""
    from components.core.step import kfp_step
    from components.data.step import STEP

    kfp_step(STEP, experiment, store, output=data)
