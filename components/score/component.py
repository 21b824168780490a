"""The score component: see :mod:`components.score.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def score(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    training: dsl.Input[dsl.Model],
    generations: dsl.Input[dsl.Dataset],
    scores: dsl.Output[dsl.Dataset],
    metrics: dsl.Output[dsl.Metrics],
) -> None:
    """Score answers by the judge and by rules that it does not see."""
    from components.core.step import kfp_step
    from components.score.step import STEP

    inputs = {"data": data, "training": training, "generations": generations}
    kfp_step(STEP, experiment, store, inputs=inputs, output=scores, metrics=metrics)


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def score_generations(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    generations: dsl.Input[dsl.Dataset],
    scores: dsl.Output[dsl.Dataset],
    metrics: dsl.Output[dsl.Metrics],
) -> None:
    """Score answers where there is no training."""
    from components.core.step import kfp_step
    from components.score.step import STEP

    kfp_step(STEP, experiment, store, {"data": data, "generations": generations}, output=scores, metrics=metrics)


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def score_stored(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    generations: dsl.Input[dsl.Dataset],
    scores: dsl.Output[dsl.Dataset],
    metrics: dsl.Output[dsl.Metrics],
) -> None:
    """Score the answers of any models, such as a policy's while it trains."""
    from components.core.step import kfp_step
    from components.score.stored import STEP

    kfp_step(STEP, experiment, store, {"data": data, "generations": generations}, output=scores, metrics=metrics)
