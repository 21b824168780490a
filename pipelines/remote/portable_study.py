"""A study as text that another machine can read: everything that its names stand for is written out."""

from collections.abc import Sequence
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.core.spec.arm import Arm
from components.core.spec.study_load import Study, load_study
from components.core.spec.yaml_core import CoreDumper
from pipelines.remote.portable import portable_tree


def portable_study(study: Study) -> str:
    """YAML of the study that a pod reads as this machine does, whatever its image's configs hold.

    Raises:
        ConfigError: the study names a file that only this machine has, or what is written out makes other arms.
    """
    spec = study.spec
    if spec.probes.mounted is not None:
        raise ConfigError(
            f"{spec.probes.mounted} is on this machine alone, and the pods of a cluster do not see it",
            where="probes.mounted",
            remedy="probe with items of one's own by `python -m components.bias probe`, and leave mounted out here",
        )
    trees = [portable_tree(arm.experiment) for arm in study.arms]
    per_reward = len(spec.seeds) * max(1, len(spec.policies))
    tree = spec.model_dump(mode="json")
    tree["experiment"] = {**trees[0], "name": spec.name, "panel": None}
    tree["policies"] = [trees[place * len(spec.seeds)]["policy"] for place in range(len(spec.policies))]
    first = 0
    for written, judge in zip(tree["judges"], spec.judges, strict=True):
        own = trees[first]
        written["judge"], written["panel"] = own["judge"], own["panel"]
        step = per_reward * len(judge.failures)
        # Masked arms show the reward as it is written; the others have one key changed.
        at = first + per_reward * judge.failures.index("masked")
        written["rewards"] = [trees[at + place * step]["reward"] for place in range(len(judge.rewards))]
        first += step * len(judge.rewards)
    text = f"# study {spec.name}\n{_yaml(tree)}"
    _check(study.arms, load_study(text).arms)
    return text


def _yaml(tree: dict[str, Any]) -> str:
    return str(yaml.dump(tree, Dumper=CoreDumper, sort_keys=False, allow_unicode=True, width=110))


def _check(arms: Sequence[Arm], again: Sequence[Arm]) -> None:
    wanted, found = ([(arm.name, arm.experiment.digest()) for arm in those] for those in (arms, again))
    if wanted != found:
        other = next((one for one, two in zip(wanted, found, strict=False) if one != two), wanted[-1])
        raise ConfigError(
            f"arm {other[0]} is another one once everything is written out",
            where="study",
            remedy="write its judge, reward and policy into the study as mappings of their own",
        )
