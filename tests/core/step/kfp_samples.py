"""A small pipeline over the sample steps, as real pipelines are written."""

from kfp import dsl


@dsl.component(base_image="python:3.11", install_kfp_package=False)
def produce(experiment: str, store: str, step: str, data: dsl.Output[dsl.Dataset]) -> None:
    from step_samples import STEPS

    from components.core.step import kfp_step

    kfp_step(STEPS[step], experiment, store, output=data)


@dsl.component(base_image="python:3.11", install_kfp_package=False)
def consume(experiment: str, store: str, data: dsl.Input[dsl.Dataset], html: dsl.Output[dsl.HTML]) -> None:
    import json
    import os
    from pathlib import Path

    from step_samples import STEPS

    from components.core.step import kfp_step

    Path(os.environ["GAVEL_STATE"], "seen.json").write_text(json.dumps({"uri": data.uri, **data.metadata}))
    kfp_step(STEPS["consume"], experiment, store, inputs={"data": data}, output=html, file="report.html")


@dsl.component(base_image="python:3.11", install_kfp_package=False)
def tear_down(experiment: str, store: str) -> None:
    from step_samples import STEPS

    from components.core.step import kfp_step

    kfp_step(STEPS["tear-down"], experiment, store)


@dsl.pipeline(name="sample")
def sample(experiment: str, store: str, step: str = "produce") -> None:
    last = tear_down(experiment=experiment, store=store)
    with dsl.ExitHandler(last):
        made = produce(experiment=experiment, store=store, step=step)
        consume(experiment=experiment, store=store, data=made.outputs["data"])
