"""The cross-judge component: see :mod:`components.cross_judge.work` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def cross_judge(study: str, scorer: str, store: str, code_version: str) -> None:
    """Score the stored answers of every arm by the judge of one."""
    from components.core.errors import StepError
    from components.core.progress import Progress
    from components.core.spec.study_load import load_study
    from components.core.step.kfp import boundary
    from components.cross_judge.work import cross

    with boundary("cross-judge"):
        found = load_study(study)
        if found.spec.cross and (failed := cross(found, found.arm(scorer), store, Progress("cross-judge"))):
            raise StepError("; ".join(failed), where="cross-judge")
