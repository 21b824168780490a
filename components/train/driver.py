"""The driver inside a RayJob: the same step as outside, with heartbeats, and its checkpoints kept in the store."""

import dataclasses
import json
import os
import sys
import traceback
from typing import Any

from components.core.errors import GavelError, StepError
from components.core.progress import Progress
from components.core.step import Published, StepContext, execute
from components.core.step.execute import INSIDE_VARIABLE
from components.core.store import Store
from components.core.store.keys import join
from components.engine.process import HungError
from components.rayjob import messages
from components.rayjob.messages import ATTEMPT_VARIABLE, FAILURE, REQUEST, Failure, Request
from components.train import step
from components.train.beats import Beats
from components.train.keeper import FOLDER, CheckpointKeeper

LAST_WORDS = "gavel-driver: "
"""Begins the last line of output; JSON follows."""

_LAST_UPLOAD_SECONDS = 600.0


def drive(store_url: str, request_key: str) -> int:
    """Run the step; the process's exit code.

    Whatever goes wrong, its kind and text are left in the store and in the last line of output, so that the step
    outside raises the same error.

    Args:
        store_url: root of the store.
        request_key: key of the request in it.
    """
    os.environ[INSIDE_VARIABLE] = "1"
    attempt = os.environ.get(ATTEMPT_VARIABLE, "by-hand")
    place = request_key.removesuffix(f"/{REQUEST}")
    try:
        store = Store.open(store_url)
        request = messages.read_request(store, request_key)
        store.delete(join(place, FAILURE))
    except GavelError as error:
        return _failed(None, place, Failure.of(attempt, error))
    try:
        published = _run(store, store_url, place, attempt, request)
    except GavelError as error:
        return _failed(store, place, Failure.of(attempt, error, hung=isinstance(error, HungError)))
    except Exception as error:  # noqa: BLE001  a process boundary
        traceback.print_exc()
        return _failed(
            store, place, Failure(attempt, "StepError", f"{type(error).__name__}: {error}", step.STEP.module)
        )
    _say({"result": published.uri, "reused": published.reused})
    return 0


def _run(store: Store, store_url: str, place: str, attempt: str, request: Request) -> Published:
    progress = Progress(step.STEP.name)
    with Beats(store, place, attempt, progress) as beats:

        def work(ctx: StepContext) -> Any:
            if ctx.place != place:
                raise StepError(
                    "the job's image makes another result than the step that submitted it asked for",
                    where=f"{ctx.place}, not {place}",
                    remedy="run step and job with one image (GAVEL_IMAGE_TRAINER)",
                )
            return _work(ctx, store, beats)

        inside = dataclasses.replace(step.STEP, run=work, elsewhere=None)
        published = execute(inside, request.experiment, store_url, request.inputs)
        # They are of no more use, and several times as large as the result.
        store.delete(join(place, FOLDER))
        return published


def _work(ctx: StepContext, store: Store, beats: Beats) -> Any:
    training = ctx.experiment.training
    keeper = CheckpointKeeper(
        store,
        ctx.place,
        ctx.work,
        keep=training.keep_checkpoints,
        last=training.steps,
        progress=ctx.progress,
    )
    keeper.restore()
    beats.watch(ctx.work)
    keeper.start()
    try:
        returned = step.run(ctx)
    except BaseException:
        # The next attempt may find another disk.
        beats.publishing()
        keeper.finish(_LAST_UPLOAD_SECONDS)
        raise
    beats.publishing()
    keeper.drop()
    return returned


def _failed(store: Store | None, place: str, failure: Failure) -> int:
    if store is not None:
        try:
            messages.write(store, place, FAILURE, failure)
        except GavelError as error:
            sys.stderr.write(f"the reason does not reach the store: {error}\n")
    sys.stderr.write(f"training failed: {failure.error()}\n")
    _say(dataclasses.asdict(failure))
    return 1


def _say(words: dict[str, Any]) -> None:
    sys.stderr.flush()
    print(LAST_WORDS + json.dumps(words, sort_keys=True), flush=True)
