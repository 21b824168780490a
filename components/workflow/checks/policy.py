"""What the experiment's policy writes before training, in a process of its own, which is ended when its time is over.

On a CPU a prompt of two thousand tokens takes a small model its half minute, and a busy machine several times as long.
"""

import asyncio
import contextlib
import multiprocessing
import signal
from collections.abc import AsyncIterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.core.errors import GavelError, StepError
from components.core.services.process import ProcessId, descendants, die_with_parent, kill_all
from components.workflow.checks.finding import Finding
from components.workflow.checks.generator import finding_of
from components.workflow.checks.problems import KNOWN
from components.workflow.checks.waiting import waiting
from components.workflow.contract.validator import Validator
from components.workflow.prompts.layer1 import policy_prompt

if TYPE_CHECKING:
    from components.core.spec import Experiment

LOADING: Final = 180.0
WRITING: Final = 60.0
"""Seconds until the policy is loaded, and for each workflow; on GPUs, where vLLM is started, five times as many."""
CPU_TOKENS: Final = 256
"""Longest response on a CPU."""
_GPU_PATIENCE: Final = 5.0


async def check_policy(experiment: "Experiment", validator: Validator, state: Path) -> AsyncIterator[Finding]:
    """Have the policy write one workflow a domain, each told as soon as it is there. That it writes no valid one is
    told, and is no failure: this is there to learn it. Nor is a policy that is too slow for this machine; then those
    that are left are not tried.

    Args:
        experiment: with the policy.
        validator: of what it writes.
        state: the state folder.

    Raises:
        StepError: its weights are not to be had, or its process ended.
    """
    longer = 1.0 if experiment.cluster.accelerator == "cpu" else _GPU_PATIENCE
    name = f"policy {experiment.policy.name}"
    async with _writer(experiment, state) as channel:
        async for finding in findings(channel, name, validator, loading=LOADING * longer, writing=WRITING * longer):
            yield finding


async def findings(
    channel: Connection, name: str, validator: Validator, *, loading: float, writing: float
) -> AsyncIterator[Finding]:
    """What is heard of a policy that writes.

    Args:
        channel: what :func:`_write` says.
        name: of the policy, in findings.
        validator: of what it writes.
        loading: seconds until it is loaded.
        writing: seconds for one workflow.

    Raises:
        StepError: see :func:`check_policy`.
    """
    if await _heard(channel, f"{name}: loading", loading) is None:
        yield Finding(name, None, f"not loaded within {loading:g} s: not tried", needed=False)
        return
    for known in KNOWN:
        domain = known.problem.domain
        response = await _heard(channel, f"{name}: writing a workflow, {domain}", writing)
        if response is None:
            text = f"not written within {writing:g} s; no further one is tried"
            yield Finding(f"{name}: {domain}", None, text, needed=False)
            return
        found = finding_of(f"{name}: {domain}", await validator.validate(response))
        length = f"{len(response)} characters" + ("" if response.strip() else ", white space alone")
        yield Finding(found.name, found.works, f"{found.text}; {length}", needed=False)


@contextlib.asynccontextmanager
async def _writer(experiment: "Experiment", state: Path) -> AsyncIterator[Connection]:
    """The process's end of the channel, while it runs."""
    # torch and threads do not go through a fork.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_write, args=(experiment.to_json(), str(state), there))
    child.start()
    there.close()
    process = ProcessId.of(child.pid or 0)
    try:
        yield here
    finally:
        # vLLM has processes of its own.
        kill_all([*descendants(process), process])
        await asyncio.to_thread(child.join)
        here.close()


async def _heard(channel: Connection, what: str, seconds: float) -> str | None:
    """What the process says next; None where it says nothing in time."""
    async with waiting(what, seconds):
        if not await asyncio.to_thread(channel.poll, seconds):
            return None
        try:
            failed, text = channel.recv()
        except EOFError as error:
            raise StepError("the policy's process ended", where=what, remedy="see what it wrote above") from error
    if failed:
        raise StepError(text, where=what, remedy="mend what is told, or leave POLICY=1 out")
    return str(text)


def _write(experiment_json: str, state: str, channel: Connection) -> None:
    """In the process: sends ``(False, "")`` once the policy is loaded and ``(False, response)`` for each problem; or
    ``(True, message)``."""
    die_with_parent(signal.SIGKILL)
    from components.core.spec import Experiment
    from components.generate.backend import open_generator
    from components.generate.sampling import Sampling
    from components.models.materialize import cache_folder, materialize

    experiment = Experiment.from_json(experiment_json)
    limit = experiment.training.max_response_tokens
    if experiment.cluster.accelerator == "cpu":
        limit = min(limit, CPU_TOKENS)
    try:
        generator = open_generator(experiment, materialize(experiment.policy.source, cache_folder(Path(state))))
        channel.send((False, ""))
        for known in KNOWN:
            turns = [{"role": "user", "content": policy_prompt(known.problem)}]
            (written,) = generator.generate([turns], Sampling(limit))
            channel.send((False, written.responses[0]))
        generator.close()
    except GavelError as error:
        channel.send((True, str(error)))
