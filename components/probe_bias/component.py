"""The probe-bias component: see :mod:`components.probe_bias.step` for the work."""

from kfp import dsl

from components.core.images import image


@dsl.component(base_image=image("evaluation"), install_kfp_package=False)
def probe_bias(study: str, scorer: str, store: str, code_version: str) -> None:
    """Probe the judge of an arm for biases."""
    from components.core.spec.study_load import load_study
    from components.core.step.kfp import boundary
    from components.probe_bias.probing import probe

    with boundary("probe-bias"):
        found = load_study(study)
        probe(found, found.arm(scorer), store)
