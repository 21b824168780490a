"""The train-grpo component: :mod:`components.train.step` does the work, :mod:`components.train.placed` says where."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("trainer"), install_kfp_package=False)
def train_grpo(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    training: dsl.Output[dsl.Model],
    metrics: dsl.Output[dsl.Metrics],
) -> None:
    """Train the policy by GRPO against the judge."""
    from components.core.step import kfp_step
    from components.train.figures import training_figures
    from components.train.placed import STEP

    kfp_step(STEP, experiment, store, {"data": data}, output=training, metrics=metrics, figures=training_figures)
