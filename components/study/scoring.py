"""Judges of a study beyond the one that trained: their experiments, and the records of what they said."""

from typing import TYPE_CHECKING

from components.core.identity import digest
from components.study.probe_plan import mounted_of

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.experiment import Experiment
    from components.core.spec.study_load import Study
    from components.study.records import Record


def scored_by(arm: "Arm", scorer: "Arm") -> "Experiment":
    """The arm's experiment with the judge, panel and protocol of another arm, for its stored responses."""
    change = {name: getattr(scorer.experiment, name) for name in ("judge", "panel", "reward")}
    return arm.experiment.model_copy(update=change)


def label(study: "Study", arm: "Arm") -> str:
    """How the judge of an arm is called in tables: by its name, and its protocol where it has several in the study."""
    protocols = {other.key.reward for other in study.scorers if other.key.judge == arm.key.judge}
    return arm.key.judge if len(protocols) < 2 else f"{arm.key.judge} ({arm.key.reward})"


def probed_identity(study: "Study", scorer: "Arm") -> str:
    """Sha256 of what decides a judge's outcomes under the study's probes: of the specification and of mounted data.

    Raises:
        ContractError: the folder that is to be mounted is not there.
    """
    experiment, probes = scorer.experiment, study.spec.probes
    return digest(
        {
            "judge": experiment.judge_identity(),
            "reward": experiment.reward_identity(),
            "probes": probes.model_dump(mode="json", exclude={"alpha", "mounted"}),
            "mounted": mounted_of(probes).sha256(),
            "seed": study.spec.seeds[0],
        }
    )


def crossed_identity(arm_record: "Record", scorer: "Arm") -> str:
    """Sha256 of what decides the scores that a judge gives an arm's stored responses."""
    experiment = scorer.experiment
    return digest(
        {
            "judge": experiment.judge_identity(),
            "reward": experiment.reward_identity(),
            "generations": arm_record.left("generations").sha256,
        }
    )


def cross_name(arm: "Arm", scorer: "Arm") -> str:
    """Name of the record of an arm's responses under a scorer's judge."""
    return f"{arm.name}.{scorer.key.judge}.{scorer.key.reward}"
