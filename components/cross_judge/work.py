"""A judge of a study scores the stored responses of all arms, and is probed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from components.core.errors import GavelError
from components.core.progress import Progress
from components.core.step import Published
from components.core.step.execute import perform
from components.core.step.published import find_published
from components.score.stored import STEP
from components.study.records import Left, Record, read_record, write_record
from components.study.scoring import cross_name, crossed_identity, scored_by

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.study_load import Study


class Crossing(NamedTuple):
    """An arm's stored responses under another judge.

    Attributes:
        arm: whose.
        left: its record.
        inputs: data and generations.
    """

    arm: "Arm"
    left: Record
    inputs: Mapping[str, Published]


def missing_crosses(study: "Study", scorer: "Arm", store: str) -> list[Crossing]:
    """What the scorer's judge has not scored yet; what it has is noted for the study.

    Raises:
        StorageError: the store cannot be read.
    """
    found = []
    for arm in study.arms:
        left = read_record(store, study.spec.name, "arms", arm.name, arm.identity())
        if left is None or left.error:
            continue
        inputs = {name: Published(*left.results[name], identity="") for name in ("data", "generations")}
        crossing = Crossing(arm, left, inputs)
        published = find_published(STEP, scored_by(arm, scorer), store, inputs)
        if published is None:
            found.append(crossing)
        else:
            _note(study, scorer, store, crossing, published)
    return found


def cross(study: "Study", scorer: "Arm", store: str, progress: Progress) -> list[str]:
    """Score what is missing, arm by arm; the judge must be up. Returns what went wrong, a line an arm.

    An arm that cannot be scored is noted, and the others are scored all the same.

    Raises:
        StorageError: the store cannot be read or written.
    """
    failed = []
    for crossing in missing_crosses(study, scorer, store):
        name = crossing.arm.name
        progress.phase(f"judge {scorer.key.judge} ({scorer.key.reward}) scores arm {name}")
        inputs = {key: published.uri for key, published in crossing.inputs.items()}
        try:
            published = perform(STEP, scored_by(crossing.arm, scorer), store, inputs)
        except GavelError as error:
            failed.append(f"arm {name} by judge {scorer.key.judge} ({scorer.key.reward}): {error.what}")
            progress.phase(f"failed: {failed[-1]}")
            _note_failed(study, scorer, store, crossing, error)
            continue
        _note(study, scorer, store, crossing, published)
    return failed


def note_unscored(study: "Study", scorer: "Arm", store: str, error: GavelError) -> None:
    """Write down why a judge scored no arm, such as that it did not come up; what it scored before stays.

    Raises:
        StorageError: the store cannot be read or written.
    """
    for crossing in missing_crosses(study, scorer, store):
        _note_failed(study, scorer, store, crossing, error)


def _note_failed(study: "Study", scorer: "Arm", store: str, crossing: Crossing, error: GavelError) -> None:
    record = Record(crossed_identity(crossing.left, scorer), {}, error.what.split("\n")[0])
    write_record(store, study.spec.name, "crosses", cross_name(crossing.arm, scorer), record)


def _note(study: "Study", scorer: "Arm", store: str, crossing: Crossing, published: Published) -> None:
    record = Record(crossed_identity(crossing.left, scorer), {"scores": Left(published.uri, published.sha256)})
    write_record(store, study.spec.name, "crosses", cross_name(crossing.arm, scorer), record)
