"""Whether an arm of a study is done, told from the results of its steps, without starting anything."""

from typing import TYPE_CHECKING

from components.checkpoint.step import STEP as MERGE
from components.core.step import Published, Step
from components.core.step.published import find_published
from components.data.step import STEP as DATA
from components.generate.step import STEP as GENERATE
from components.generate_drift.step import STEP as DRIFT
from components.score.step import STEP as SCORE
from components.score.stored import STEP as STORED
from components.study.records import Left, Record
from components.train.step import STEP as TRAIN

if TYPE_CHECKING:
    from components.core.spec.arm import Arm

_CHAIN: tuple[tuple[str, Step, tuple[str, ...]], ...] = (
    ("data", DATA, ()),
    ("training", TRAIN, ("data",)),
    ("model", MERGE, ("training",)),
    ("generations", GENERATE, ("data", "model")),
    ("scores", SCORE, ("data", "training", "generations")),
)


def find_arm(arm: "Arm", store_url: str) -> Record | None:
    """What the arm left, as it would be made now; None where a step of it is still to be done.

    Args:
        arm: of a study.
        store_url: root of the store.

    Raises:
        StorageError: the store cannot be read.
        StepError: a package is not installed here.
    """
    found: dict[str, Published] = {}
    for name, step, inputs in _CHAIN:
        published = find_published(step, arm.experiment, store_url, {key: found[key] for key in inputs})
        if published is None:
            return None
        found[name] = published
    if arm.experiment.training.publish_every is not None:
        looked_at = {"data": found["data"], "training": found["training"]}
        looks = find_published(DRIFT, arm.experiment, store_url, looked_at)
        if looks is None:
            return None
        scores = find_published(STORED, arm.experiment, store_url, {"data": found["data"], "generations": looks})
        if scores is None:
            return None
        found |= {"drift": looks, "drift_scores": scores}
    del found["model"]
    return Record(arm.identity(), {name: Left(each.uri, each.sha256) for name, each in found.items()})
