"""The teardown-judge component: see :mod:`components.teardown_judge.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def teardown_judge(experiment: str, judge: str, seed: str, start_from: str, store: str, code_version: str) -> None:
    """End the judge that this run started; takes the run's own parameters, since an exit handler gets no outputs."""
    from components.core.request import Request
    from components.core.step import kfp_step
    from components.resolve.resolving import kfp_resolve
    from components.teardown_judge.step import STEP

    found = kfp_resolve(Request(experiment, judge, seed, start_from), store)
    kfp_step(STEP, found.experiment, found.store)


@dsl.component(base_image=image("tools"), install_kfp_package=False)
def teardown_study(study: str, store: str, code_version: str) -> None:
    """End every judge of a study that this run started."""
    from components.core.errors import GavelError
    from components.core.spec.study_load import load_study
    from components.core.step.execute import perform
    from components.core.step.kfp import boundary
    from components.teardown_judge.step import STEP

    with boundary(STEP.name):
        failures = []
        for scorer in load_study(study).scorers:
            try:
                perform(STEP, scorer.experiment, store, {})
            except GavelError as error:
                failures.append(error)
        if failures:
            raise failures[0]
