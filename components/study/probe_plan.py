"""What a judge of a study is asked by its probes."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.bias.mounted import NOTHING, Mounted
from components.bias.probe import named
from components.bias.run import Plan, plan_probes
from components.bias.types import Mode

if TYPE_CHECKING:
    from components.core.spec.experiment import Experiment
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.study import StudyProbes


def plan_of(probes: "StudyProbes", judge: "JudgeSpec", experiment: "Experiment", seed: int) -> Plan:
    """What a judge is asked, and what is left out with the reason.

    Raises:
        ConfigError: there is no probe of a name.
        ContractError: a probe breaks the limits of its items, or the folder that is to be mounted is not there or
            has no file that can be read.
    """
    mounted = mounted_of(probes)
    modes = [Mode(mode) for mode in probes.modes]
    wanted = named(probes.names)
    return plan_probes(
        judge, experiment.reward, wanted, modes, probes.items, seed, probes.repeats, mounted, probes.criteria
    )


def mounted_of(probes: "StudyProbes") -> Mounted:
    """The data sets that the study mounts."""
    return NOTHING if probes.mounted is None else Mounted(Path(probes.mounted))
