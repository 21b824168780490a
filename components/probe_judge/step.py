"""The step probe-judge."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.deployed import keeping
from components.judge.endpoint import resolve_endpoint
from components.judge.memory import Ledger
from components.judge.memory.shipping import LEDGER, shipped
from components.judge.probing.run import probe
from components.judge.probing.words import probe_words
from components.judge.served import served_identity

if TYPE_CHECKING:
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """Which judge is probed and how it is asked; the step looks at the world, so that nothing is reused by it."""
    return {"judge": served_identity(experiment), "reward": experiment.reward_identity()}


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Ask the deployed judge everything that training will need of it, and the executor model of workflows for a word.

    Every call lies in the ledger of the work folder, which is kept: the next probe counts it for the judges' budgets.

    Raises:
        JudgeError: it does not answer, lacks the model, or lacks what the protocol needs.
    """
    experiment = context.experiment
    found: dict[str, Scalar] = {}
    path = context.work / LEDGER
    judges = experiment.judges() if experiment.asks_judge else ()
    kept = keeping(experiment.served(), experiment.cluster, experiment.name, context.progress)
    with shipped(path, context), Ledger(path) as ledger, kept:
        for judge in judges:
            url = resolve_endpoint(judge, context.state, experiment.cluster)
            report = asyncio.run(probe(judge, experiment.reward, url, ledger, context.state))
            for line in report.table():
                context.progress.phase(line)
            # One judge's figures keep their plain names; those of a panel's further members carry the judge's.
            prefix = f"{judge.name}." if found else ""
            found |= {f"{prefix}{name}": value for name, value in report.metadata().items()}
        if experiment.workflow is not None:
            executor = experiment.workflow.executor
            url = resolve_endpoint(executor, context.state, experiment.cluster)
            told = asyncio.run(probe_words(executor, url, ledger, context.state))
            word = "replies" if told["replied"] else "answers without a word"
            context.progress.phase(f"executor {executor.name} at {url} {word} after {told['latency_seconds']:.1f} s")
            found |= {f"executor.{name}": value for name, value in told.items()}
    return found


STEP = Step("probe-judge", __name__, depends, run, durable=False, keep_work=True)
