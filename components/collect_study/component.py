"""The study-report component: see :mod:`components.collect_study.work` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def study_report(
    study: str, store: str, code_version: str, html: dsl.Output[dsl.HTML], metrics: dsl.Output[dsl.Metrics]
) -> None:
    """Write the report of the study, as far as it got."""
    from components.collect_study.publishing import kfp_report

    kfp_report(study, store, html, metrics)
