"""What the components of a study's graph hand on."""

from collections.abc import Mapping
from typing import NamedTuple

from components.core.request import store_url
from components.core.services.state import state_folder
from components.core.spec.study_load import load_study
from components.core.step.kfp import Artifact, boundary
from components.core.step.runlog import noted
from components.study.records import Left, Record, write_record


class Opened(NamedTuple):
    """A study, for the graph's loops.

    Attributes:
        arms: names of all arms.
        scorers: names of the arms whose judges score the policies of all.
        store: URL of the store's root.
    """

    arms: list[str]
    scorers: list[str]
    store: str


class OpenedArm(NamedTuple):
    """One arm.

    Attributes:
        experiment: as JSON.
        store: URL of the store's root.
        drift: whether its policy is looked at while it trains.
    """

    experiment: str
    store: str
    drift: bool


def open_study(study: str, store: str) -> Opened:
    """Resolve a study inside a KFP component.

    Raises:
        SystemExit: with status 1, after the mistakes were printed.
    """
    with boundary("study-arms"), noted(state_folder(), "study-arms"):
        found = load_study(study)
        names = [arm.name for arm in found.arms]
        scorers = [arm.name for arm in found.scorers]
        return Opened(names, scorers, store_url(found.arms[0].experiment, store))


def open_arm(study: str, arm: str, store: str) -> OpenedArm:
    """Resolve one arm inside a KFP component.

    Raises:
        SystemExit: see :func:`open_study`.
    """
    with boundary("resolve-arm"), noted(state_folder(), "resolve-arm"):
        experiment = load_study(study).arm(arm).experiment
        drift = experiment.training.publish_every is not None
        return OpenedArm(experiment.to_json(), store_url(experiment, store), drift)


def close_arm(study: str, arm: str, store: str, artifacts: Mapping[str, Artifact | None]) -> None:
    """Write down what an arm left, inside a KFP component.

    Args:
        study: as text.
        arm: its name.
        store: URL of the store's root.
        artifacts: by name; those that the arm has none of are None.

    Raises:
        SystemExit: see :func:`open_study`.
    """
    with boundary("record-arm"), noted(state_folder(), "record-arm"):
        found = load_study(study)
        results = {
            name: Left(str(each.metadata.get("folder") or each.uri), str(each.metadata["sha256"]))
            for name, each in artifacts.items()
            if each is not None
        }
        record = Record(found.arm(arm).identity(), results)
        write_record(store, found.spec.name, "arms", arm, record)
