"""The step probe-bias: asks a judge the items of probes, and keeps what it made of them."""

import asyncio
import json
import pkgutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import components.bias.probes
from components.bias.asking import Asking
from components.bias.outcomes import write_outcomes
from components.bias.panel_outcomes import LEAVES_OUT, NO_OWN, OWN_WRITING, panel_outcomes
from components.bias.run import Plan, ask_plan
from components.bias.types import Mode, Outcome
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.deployed import keeping
from components.judge.endpoint import resolve_endpoint
from components.judge.memory import Ledger
from components.judge.memory.shipping import LEDGER, shipped
from components.probe_bias.outages import Outages
from components.study.probe_plan import mounted_of, plan_of

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.study import StudyProbes

OUTCOMES = "outcomes.parquet"
SKIPPED = "skipped.json"
CALLS = "calls.parquet"
_FOUND_BY_NAME = tuple(
    f"{components.bias.probes.__name__}.{found.name}" for found in pkgutil.iter_modules(components.bias.probes.__path__)
)


def probe_step(probes: "StudyProbes", seed: int) -> Step:
    """The step for one set of probes.

    Args:
        probes: which, how many items, and how they are asked.
        seed: of what items draw.
    """

    def depends(experiment: "Experiment") -> object:
        return {
            "judge": experiment.judge_identity(),
            "reward": experiment.reward_identity(),
            "probes": probes.model_dump(mode="json", exclude={"alpha", "mounted"}),
            "mounted": mounted_of(probes).sha256(),
            "seed": seed,
        }

    def run(context: StepContext) -> Mapping[str, Scalar]:
        return _probe(context, probes, seed)

    return Step(
        name="probe-bias",
        module="components.probe_bias.step",
        depends=depends,
        run=run,
        # The embedded judge runs in a process of its own; another arithmetic there gives other outcomes.
        extra_modules=("components.judge.server.__main__", "components.bias.scripted.cli", *_FOUND_BY_NAME),
        packages=("torch", "transformers"),
        keep_work=True,
    )


def _probe(context: StepContext, probes: "StudyProbes", seed: int) -> Mapping[str, Scalar]:
    """Write outcomes.parquet, skipped.json and calls.parquet; the members of a panel are asked one after the other,
    and what the panel would have said is made of their verdicts.

    Raises:
        GavelError: a judge cannot be asked, leaves too much unanswered, or a probe breaks its limits.
    """
    experiment, path = context.experiment, context.work / LEDGER
    outcomes: list[Outcome] = []
    skipped: list[dict[str, str | None]] = []
    kept = keeping(experiment.judges(), experiment.cluster, experiment.name, context.progress)
    with shipped(path, context), Ledger(path) as ledger, kept:
        for judge in experiment.judges():
            plan = plan_of(probes, judge, experiment, seed)
            context.progress.begin(plan.calls, f"item to judge {judge.name}")
            outcomes += asyncio.run(_ask(context, judge, plan, ledger))
            skipped += [
                {"judge": judge.name, "probe": each.probe, "mode": each.mode, "reason": each.reason}
                for each in plan.skipped
            ]
        if experiment.panel is not None:
            members = [judge.name for judge in experiment.judges()]
            outcomes += panel_outcomes(members, experiment.panel, outcomes, ledger.rows())
            skipped += _left_out(experiment.panel.name, outcomes)
        calls = ledger.export_calls(context.out / CALLS)
    rows = write_outcomes(context.out / OUTCOMES, outcomes)
    (context.out / SKIPPED).write_text(json.dumps(skipped, indent=1) + "\n", encoding="utf-8")
    unknown = sum(outcome.value is None for outcome in outcomes)
    return {"outcomes": rows, "unknown": unknown, "skipped": len(skipped), "calls": calls}


def _left_out(panel: str, outcomes: Sequence[Outcome]) -> list[dict[str, str | None]]:
    """What the members were probed for, and the panel cannot be."""
    asked = dict.fromkeys((each.probe, each.mode) for each in outcomes if each.judge != panel)
    own = dict.fromkeys(probe for probe, _ in asked if probe in OWN_WRITING)
    found: list[dict[str, str | None]] = [
        {"judge": panel, "probe": probe, "mode": None, "reason": NO_OWN} for probe in own
    ]
    return found + [
        {"judge": panel, "probe": probe, "mode": mode, "reason": LEAVES_OUT}
        for probe, mode in asked
        if mode is not Mode.BINARY and probe not in own
    ]


async def _ask(context: StepContext, judge: "JudgeSpec", plan: Plan, ledger: Ledger) -> list[Outcome]:
    experiment = context.experiment
    url = resolve_endpoint(judge, context.state, experiment.cluster)
    identity = json.dumps(judge.identity(), sort_keys=True)
    asking = Asking(judge, experiment.reward, url, ledger, state=context.state, identity=identity)
    try:
        outages = Outages(experiment, judge.name, plan, ledger)
        return await ask_plan(
            asking, plan, concurrency=judge.max_concurrency, progress=context.progress, keep=outages.note
        )
    finally:
        await asking.close()
