"""The train-grpo step as pipelines run it: here, or on a cluster in a RayJob.

Apart from :mod:`components.train.step`, so that no result's identity depends on how a job is submitted and followed.
"""

import dataclasses

from components.core.step import Elsewhere
from components.train import step


def _in_job(asked: Elsewhere) -> None:
    # Needs a client of Kubernetes, which a local run does not.
    from components.rayjob.step import train_in_job

    train_in_job(asked)


STEP = dataclasses.replace(step.STEP, elsewhere=_in_job)
