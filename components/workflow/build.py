"""From the experiment to what tries its workflows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError
from components.judge.endpoint import resolve_endpoint
from components.judge.memory import Ledger
from components.judge.panel.build import build_deciding_judge
from components.tasks.score import TaskScorer
from components.workflow.attempts import Attempts
from components.workflow.broker.broker import Enhance
from components.workflow.broker.executor import ExecutorModel, build_executor
from components.workflow.contract.validator import Validator
from components.workflow.service import SIGNATURES, ExecutorService
from components.workflow.types import Budget

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.workflow import WorkflowSpec

BYTES_PER_MEGABYTE = 1_000_000


def workflow_of(experiment: "Experiment") -> "WorkflowSpec":
    """The experiment's part workflow.

    Raises:
        ConfigError: it has none.
    """
    if experiment.workflow is None:
        raise ConfigError(
            f"experiment {experiment.name} has no part workflow",
            where="workflow",
            remedy="name one that has, such as workflow_small",
        )
    return experiment.workflow


def budget_of(spec: "WorkflowSpec") -> Budget:
    """The limits of one execution."""
    given = spec.budget
    return Budget(given.calls, given.tokens, given.seconds, round(given.megabytes * BYTES_PER_MEGABYTE))


def build_service(
    experiment: "Experiment", state: Path, ledger: Ledger | None, *, earlier: Sequence[Path] = ()
) -> ExecutorService:
    """What executes the experiment's workflows.

    Args:
        experiment: with the part workflow.
        state: the state folder, where endpoints are written down.
        ledger: gets every call; the caller closes it.
        earlier: tables of calls that earlier steps of the run published; they count for the executor's budget.

    Raises:
        JudgeError: the executor model is not deployed, or its key is missing.
    """
    spec = workflow_of(experiment)

    def build(address: str) -> ExecutorModel:
        seed = f"seed {experiment.seed}"
        return build_executor(spec.executor, address, ledger, state=state, sampling=seed, earlier=earlier)

    def enhance(executor: str) -> Enhance:
        from components.workflow.prompts.layer2 import enhancer

        return enhancer(str(spec.enhancements), executor)

    return ExecutorService(
        lambda: resolve_endpoint(spec.executor, state, experiment.cluster),
        build,
        None if spec.enhancements is None else enhance,
    )


def build_attempts(
    experiment: "Experiment",
    state: Path,
    ledger: Ledger | None,
    *,
    earlier: Sequence[Path] = (),
    correctness: Mapping[str, str] | None = None,
) -> Attempts:
    """What tries the experiment's workflows.

    Args:
        experiment, state, ledger, earlier: as for :func:`build_service`.
        correctness: domain -> ``gold`` or ``judge``; None for the experiment's own.

    Raises:
        JudgeError: the executor model is not deployed, or a judge who is to be asked is not; or a key is missing.
    """
    spec = workflow_of(experiment)
    deciding = spec.correctness.all if correctness is None else correctness
    asks = "judge" in deciding.values()
    judge = build_deciding_judge(experiment, state, ledger, earlier=earlier) if asks else None
    return Attempts(
        spec.reward,
        deciding,
        budget_of(spec),
        validator=Validator(SIGNATURES),
        runner=build_service(experiment, state, ledger, earlier=earlier),
        scorer=TaskScorer(),
        judge=judge,
    )
