"""The generate-tasks components: see :mod:`components.generate_tasks.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def generate_tasks(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    model: dsl.Input[dsl.Model],
    generations: dsl.Output[dsl.Dataset],
) -> None:
    """Answer the test sets, by the policy before training too where the experiment says so."""
    from components.core.step import kfp_step
    from components.generate_tasks.step import STEP

    kfp_step(STEP, experiment, store, inputs={"data": data, "model": model}, output=generations)


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def generate_tasks_of(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    model: dsl.Input[dsl.Model],
    base: bool,
    generations: dsl.Output[dsl.Dataset],
) -> None:
    """Answer the test sets by a given model, with ``base`` also by the policy before training."""
    from components.core.step import kfp_step
    from components.generate_tasks.step import ALONE, BOTH

    kfp_step(BOTH if base else ALONE, experiment, store, inputs={"data": data, "model": model}, output=generations)
