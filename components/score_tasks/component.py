"""The score-tasks component: see :mod:`components.score_tasks.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def score_tasks(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    generations: dsl.Input[dsl.Dataset],
    scores: dsl.Output[dsl.Dataset],
    metrics: dsl.Output[dsl.Metrics],
) -> None:
    """Score the answers to the test sets by their official metrics."""
    from components.core.step import kfp_step
    from components.score_tasks.step import STEP

    kfp_step(STEP, experiment, store, {"data": data, "generations": generations}, output=scores, metrics=metrics)
