"""A judge of a study scores the stored responses of all arms, and is probed."""

from typing import TYPE_CHECKING

from components.core.errors import GavelError
from components.core.progress import Progress
from components.core.step.execute import perform
from components.score.stored import STEP
from components.study.records import Left, Record, read_record, write_record
from components.study.scoring import cross_name, crossed_identity, scored_by

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.study_load import Study


def missing_crosses(study: "Study", scorer: "Arm", store: str) -> list["Arm"]:
    """Arms with stored responses that the scorer's judge has not scored yet.

    Raises:
        StorageError: the store cannot be read.
    """
    found = []
    for arm in study.arms:
        left = read_record(store, study.spec.name, "arms", arm.name, arm.identity())
        if left is None or left.error:
            continue
        name = cross_name(arm, scorer)
        if read_record(store, study.spec.name, "crosses", name, crossed_identity(left, scorer)) is None:
            found.append(arm)
    return found


def cross(study: "Study", scorer: "Arm", store: str, progress: Progress) -> list[str]:
    """Score what is missing, arm by arm; the judge must be up. Returns what went wrong, a line an arm.

    An arm that cannot be scored is noted, and the others are scored all the same.

    Raises:
        StorageError: the store cannot be read or written.
    """
    failed = []
    for arm in missing_crosses(study, scorer, store):
        left = read_record(store, study.spec.name, "arms", arm.name, arm.identity())
        assert left is not None
        progress.phase(f"judge {scorer.key.judge} ({scorer.key.reward}) scores arm {arm.name}")
        inputs = {name: left.results[name].uri for name in ("data", "generations")}
        try:
            published = perform(STEP, scored_by(arm, scorer), store, inputs)
        except GavelError as error:
            failed.append(f"arm {arm.name} by judge {scorer.key.judge} ({scorer.key.reward}): {error.what}")
            progress.phase(f"failed: {failed[-1]}")
            continue
        record = Record(crossed_identity(left, scorer), {"scores": Left(published.uri, published.sha256)})
        write_record(store, study.spec.name, "crosses", cross_name(arm, scorer), record)
    return failed
