"""The report component: see :mod:`components.report.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def report(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    training: dsl.Input[dsl.Model],
    generations: dsl.Input[dsl.Dataset],
    scores: dsl.Input[dsl.Dataset],
    html: dsl.Output[dsl.HTML],
    ifeval: dsl.Input[dsl.Metrics] = None,
) -> None:
    """Write the report."""
    from components.core.step import kfp_step
    from components.report.step import STEP

    inputs = {"data": data, "training": training, "generations": generations, "scores": scores}
    inputs |= {"ifeval": ifeval} if ifeval else {}
    kfp_step(STEP, experiment, store, inputs=inputs, output=html, file="report.html")


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def report_tasks(
    experiment: str,
    store: str,
    code_version: str,
    data: dsl.Input[dsl.Dataset],
    training: dsl.Input[dsl.Model],
    generations: dsl.Input[dsl.Dataset],
    scores: dsl.Input[dsl.Dataset],
    html: dsl.Output[dsl.HTML],
) -> None:
    """Write the report of a mixture of task sets."""
    from components.core.step import kfp_step
    from components.report.tasks.step import STEP

    inputs = {"data": data, "training": training, "generations": generations, "scores": scores}
    kfp_step(STEP, experiment, store, inputs=inputs, output=html, file="report.html")
