"""From the experiment to the judge that decides: one alone, or a panel."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.identity import canonical_json
from components.judge.base import Judge
from components.judge.build import build_judge
from components.judge.endpoint import resolve_endpoint
from components.judge.memory import Ledger
from components.judge.moving import MovingJudge
from components.judge.panel.panel import Panel

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.judge import JudgeSpec


def build_deciding_judge(
    experiment: "Experiment", state: Path, ledger: Ledger | None, *, earlier: Sequence[Path] = ()
) -> Judge:
    """The judge whose verdicts make the reward; they stand in the ledger under ``experiment.verdict_name``.

    Args:
        experiment: with one judge, or with a panel.
        state: the state folder, where endpoints are written down.
        ledger: gets every verdict, a panel's members' too; the caller closes it.
        earlier: tables of calls that earlier steps of the run published; they count for the judges' budgets.

    Raises:
        JudgeError: a judge is not deployed, its key is missing, or it lacks what the protocol needs.
    """

    def member(spec: "JudgeSpec") -> Judge:
        return MovingJudge(
            lambda: resolve_endpoint(spec, state, experiment.cluster),
            lambda address: build_judge(
                spec,
                experiment.reward,
                address,
                ledger,
                state=state,
                identity=canonical_json(spec.identity()),
                earlier=earlier,
            ),
        )

    judges = [member(spec) for spec in experiment.judges()]
    panel = experiment.panel
    if panel is None:
        return judges[0]
    return Panel(judges, panel.combine, name=panel.name, quorum=panel.quorum, ledger=ledger)
