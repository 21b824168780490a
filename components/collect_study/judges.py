"""The judges of a study as its result has them: the effects of the probes, corrected over all of a judge's."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from components.bias import clusters
from components.bias.effects import Effect, measure_effects
from components.bias.estimate import Estimate
from components.bias.items import of_effect
from components.bias.multiplicity import Adjusted, adjusted
from components.bias.power import assumed_sd
from components.bias.power import detectable as least_effect
from components.bias.probe import all_probes
from components.bias.result_judges import Bias, Detectable, Judge
from components.bias.run import Plan
from components.bias.scripted.inprocess import expected
from components.bias.scripted.judge import ScriptedJudge
from components.bias.types import Mode
from components.collect_study.agreeing import heldout_agreement, probe_agreement
from components.collect_study.heldout import Held
from components.collect_study.probed import Probed
from components.collect_study.repeating import NEVER, noises
from components.core.spec.source import ScriptedSource
from components.study.detecting import detectables
from components.study.probe_plan import plan_of

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

CORRECTION = "Holm over all probes and modes of a judge"
_LEAST_TEXTS = 2
_INTERVAL = "t on the CR2 error clustered by text; of shares Wilson's with the effective number of items"


def judges(
    study: "Study", probed: Sequence[Probed], held: Mapping[str, Sequence[Held]], confidence: float
) -> list[Judge]:
    """Every judge with its biases, its noise and its agreement with gold.

    Args:
        study: whose.
        probed: its judges and what they said.
        held: judge -> held-out responses with gold under it; those of a panel are the panel's, and no member's.
        confidence: coverage of the intervals.
    """
    return [_judge(study, each, held, confidence) for each in probed]


def detectable(study: "Study") -> list[Detectable]:
    """The smallest effects that the study could find, of the judge with most of them.

    Raises:
        GavelError: see :func:`components.study.probe_plan.plan_of`.
    """
    plans = [
        plan_of(study.spec.probes, judge, scorer.experiment, study.spec.seeds[0])
        for scorer in study.scorers
        for judge in scorer.experiment.judges()
    ]
    return detectables(max(plans, key=lambda plan: len(plan.parts)), study.spec.probes.alpha)


def _judge(study: "Study", about: Probed, held: Mapping[str, Sequence[Held]], confidence: float) -> Judge:
    outcomes, plan = about.outcomes, about.plan
    probes = all_probes()
    reasons: dict[tuple[str, Mode], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for outcome in outcomes:
        if outcome.reason is not None:
            reasons[outcome.probe, outcome.mode][f"{outcome.role.value}: {outcome.reason}"] += 1
    measures = {probe.name: probe.measure for probe in probes.values()}
    effects = measure_effects(outcomes, measures, confidence=confidence)
    seed = study.spec.seeds[0]
    again = noises(outcomes)
    planted = planted_effects(about.source, plan) if isinstance(about.source, ScriptedSource) else None
    biases = [
        _bias(
            each,
            probes[each.effect.probe].title,
            reasons[each.effect.probe, each.effect.mode],
            _least(each.effect, study.spec.probes.alpha / max(1, len(plan.parts))),
            None if planted is None else planted.get((each.effect.probe, each.effect.mode)),
        )
        for each in adjusted(effects, study.spec.probes.alpha)
    ]
    return Judge(
        name=about.name,
        family=about.family,
        parameters=about.parameters,
        model=about.model,
        protocol=about.protocol,
        scripted=planted is not None,
        biases=tuple(biases),
        agreement=(
            *([] if about.member else heldout_agreement(held.get(about.name, ()), seed=seed, confidence=confidence)),
            *probe_agreement(outcomes, about.items, seed=seed, confidence=confidence),
        ),
        noise=tuple(again),
        noise_unknown="" if again else NEVER if outcomes else "it was not probed",
    )


def _least(effect: Effect, alpha: float) -> float | None:
    """The smallest effect that the known items find; None of fewer than two texts."""
    if effect.bias.texts < _LEAST_TEXTS:
        return None
    return least_effect(effect.bias.items, effect.bias.texts, assumed_sd(effect.measure, effect.mode), alpha)


def planted_effects(source: ScriptedSource, plan: Plan) -> dict[tuple[str, Mode], float]:
    """What the probes should find in a scripted judge, by probe and mode; without noise."""
    judge = ScriptedJudge(
        source.biases,
        source.seed,
        source.quality,
        source.sight,
        noise=source.noise,
        strained_words=source.strained_words,
    )
    return {
        (part.probe.name, part.mode): expected(
            judge, of_effect(part.items, part.probe.measure), part.probe.measure, part.mode
        )
        for part in plan.parts
        if part.items
    }


def _bias(found: Adjusted, title: str, unknown: dict[str, int], least: float | None, planted: float | None) -> Bias:
    effect = found.effect
    return Bias(
        probe=effect.probe,
        title=title,
        mode=effect.mode,
        measure=effect.measure,
        effect=_estimate(effect.bias, effect),
        placebo=None if effect.placebo is None else _estimate(effect.placebo, effect),
        flip=None if effect.flip is None else _estimate(effect.flip, effect),
        p=effect.bias.p,
        p_adjusted=found.holm,
        p_discovery=found.fdr,
        flagged=found.flagged,
        detectable=least,
        planted=planted,
        noise=None if effect.noise is None else _estimate(effect.noise, effect),
        unknown=dict(unknown),
        interval=_INTERVAL,
    )


def _estimate(found: clusters.Estimate, effect: Effect) -> Estimate:
    why = "no item is known" if found.value is None else "fewer than two texts"
    unknown = max(0, effect.items - found.items)
    return Estimate.of(
        found.value, found.low, found.high, n=found.items, clusters=found.texts, unknown=unknown, why=why
    )
