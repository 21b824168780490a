"""A made-up study, every number chosen by hand."""

import pytest

from components.bias.drift.result import Canary, Drift
from components.bias.estimate import Estimate
from components.bias.result_arms import Arm, Change, Crossing, Curve, Parting
from components.bias.result_findings import (
    Absent,
    Contrast,
    Findings,
    Leakage,
    Mitigation,
    Opportunity,
    Point,
    Prediction,
)
from components.bias.result_judges import Agreement, Bias, Bin, Detectable, Judge, Noise
from components.bias.study_result import Abstained, Cost, Lineage, Skipped, StudyResult
from components.bias.types import Measure, Mode

PROBES = {
    "position": "Prefers the first place",
    "verbosity": "Longer wins at equal content",
    "style": "Lists and bold type win",
    "authority": "Made-up sources win",
    "sycophancy": "Agrees with what the user claims",
    "master_keys": "Accepts a response that says nothing",
}
JUDGES = ("small-lr", "small-rubric", "scripted-long")
STEPS = (0, 4, 8, 12)


def some(value, half=0.06, n=48, clusters=40, unknown=0):
    return Estimate.of(value, value - half, value + half, n=n, clusters=clusters, unknown=unknown)


def bias(probe, place, mode, effect):
    if effect is None:
        return Bias(
            probe=probe,
            title=PROBES[probe],
            mode=mode,
            measure=Measure.SHIFT,
            effect=Estimate.missing("every pair is unknown", unknown=48),
            unknown={"changed: timeout": 48},
        )
    flagged = abs(effect) > 0.1
    return Bias(
        probe=probe,
        title=PROBES[probe],
        mode=mode,
        measure={"position": Measure.FIRST_SLOT, "master_keys": Measure.ACCEPTANCE}.get(probe, Measure.SHIFT),
        effect=some(effect, unknown=place),
        placebo=None if probe == "position" else some(0.01),
        flip=some(0.2),
        p=0.0004 if flagged else 0.4,
        p_adjusted=0.004 if flagged else 1.0,
        p_discovery=0.002 if flagged else 0.5,
        flagged=flagged,
        detectable=0.09,
        noise=some(0.05),
        planted=effect if place == 2 else None,
        unknown={"changed: unparseable": place} if place else {},
        interval="cluster-robust t",
    )


def judge(place, name):
    effects = {
        Mode.BINARY: (0.02, 0.05 + 0.12 * place, 0.0, 0.02, 0.0, 0.08 * place),
        Mode.POINTWISE: (0.01, -0.16 + 0.2 * place, 0.07, -0.03, None, 0.3),
    }
    return Judge(
        name=name,
        family="scripted" if place == 2 else "smollm2",
        parameters=None if place == 2 else 135e6,
        protocol=("likelihood ratio", "rubric", "rubric")[place],
        scripted=place == 2,
        biases=tuple(
            bias(probe, place, mode, effect)
            for mode, found in effects.items()
            for probe, effect in zip(PROBES, found, strict=True)
        ),
        agreement=(
            Agreement(
                source="LLMBar Natural",
                mode=Mode.PAIRWISE,
                accuracy=some(0.62),
                kappa=some(0.24),
                consistency=some(0.71),
                calibration_error=some(0.1),
                calibration=(
                    Bin(low=0.0, high=0.5, stated=0.31, right=some(0.4)),
                    Bin(low=0.5, high=1.0, stated=None, right=Estimate.missing("an empty bin")),
                ),
            ),
            Agreement(
                source="held-out responses",
                mode=None,
                accuracy=some(0.7),
                kappa=Estimate.missing("it takes right and wrong responses", unknown=3),
                accepts_right=some(0.8),
                accepts_wrong=some(0.3),
                ranking=some(0.66),
            ),
        ),
        noise=()
        if place == 1
        else (Noise(mode=Mode.BINARY, repeats=3, flips=some(0.06), apart=some(0.08), alpha=some(0.63)),),
        noise_unknown="no probe asked the same twice" if place == 1 else "",
    )


def arm(place, name, seed, slope):
    drift = [Drift(step=step, feature="words", mean=some(20 + slope * step, 2.0, 64, 32)) for step in STEPS]
    drift += [
        Drift(step=step, feature="markdown", mean=some(0.1 + 0.004 * slope * step, 0.04, 64, 32)) for step in STEPS
    ]
    drift += [
        Drift(step=step, feature="variety", mean=Estimate.missing("shorter than a window", unknown=64))
        for step in STEPS
    ]
    drift += [
        Drift(
            step=step, feature="criterion", criterion="mentions <b>tea</b>", mean=some(0.3 + 0.01 * step, 0.05, 64, 32)
        )
        for step in STEPS
    ]
    curve = tuple(
        Curve(
            step=step,
            proxy=some(0.3 + 0.012 * slope * step, 0.03, 128, 32),
            abstained=some(0.02, 0.01, 128, 32),
            gold=some(0.35 - 0.005 * slope * step, 0.03, 128, 32) if place else Estimate.missing("no gold"),
        )
        for step in range(1, 13)
    )
    changed = Change(feature="words", first=drift[0].mean, last=drift[3].mean, change=some(slope * 12, 1.5, 32, None))
    return Arm(
        name=f"{name}-s{seed}",
        judge=name if place < 3 else None,
        control="" if place < 3 else "random",
        reward="binary",
        policy="tiny",
        seed=seed,
        steps=12,
        curve=curve,
        drift=tuple(drift),
        changes=(changed,),
        failures="zero_as_control" if place == 1 else "masked",
        parting=Parting(
            parted=slope > 1,
            step=6 if slope > 1 else None,
            low=4 if slope > 1 else None,
            high=9 if slope > 1 else None,
            n=32,
            why="" if slope > 1 else "The gap's interval reaches 0.",
        ),
        canaries=(
            Canary(step=2, key=":", judged=3, accepted=int(place == 2), unknown=1),
            Canary(step=3, key=" ", judged=3, accepted=0, unknown=0),
        ),
    )


@pytest.fixture(scope="session")
def study():
    names = (*JUDGES, "random")
    arms = [
        arm(place, name, seed, (0.4, 0.1, 1.8, 0.0)[place] + 0.05 * seed)
        for place, name in enumerate(names)
        for seed in (1, 2)
    ]
    arms.append(
        Arm(
            name="small-rubric-s3",
            judge="small-rubric",
            reward="binary",
            policy="tiny",
            seed=3,
            state="failed",
            reason="out of memory at step 3",
        )
    )
    points = tuple(
        Point(
            arm=found.name,
            judge=found.judge,
            seed=found.seed,
            bias=some(0.05 + 0.12 * JUDGES.index(found.judge)),
            drift=found.changes[0].change,
        )
        for found in arms
        if found.judge and found.changes
    )
    return StudyResult(
        name="quick",
        description="A made-up study.",
        created="2026-01-02T03:04:05Z",
        quick=True,
        limits=("Six probes of 48 items see large effects alone.",),
        correction="Holm over all probes of a judge",
        seed=7,
        judges=tuple(judge(place, name) for place, name in enumerate(JUDGES)),
        detectable=tuple(
            Detectable(probe=probe, mode=Mode.BINARY, n_items=48, n_texts=40, sd=0.3, effect=0.13) for probe in PROBES
        ),
        arms=tuple(arms),
        crossings=tuple(
            Crossing(
                arm=found.name,
                judge=name,
                trained=some(0.5),
                base=some(0.4),
                gain=some(0.2 - 0.12 * place) if (place, found.seed) != (1, 2) else None,
            )
            for found in arms
            if found.changes
            for place, name in enumerate(JUDGES)
        ),
        findings=Findings(
            predictions=(
                Prediction(
                    axis="verbosity",
                    title="Longer wins",
                    feature="words",
                    slope=some(70.0, 20.0, 6, 3),
                    p=0.33,
                    judges=3,
                    method="mixed model",
                    points=points,
                    note="Three judges allow no p below 0.33.",
                ),
                Prediction(
                    axis="style",
                    feature="markdown",
                    slope=Estimate.missing("one judge"),
                    judges=1,
                    method="mixed model",
                    note="one judge",
                ),
            ),
            contrasts=(
                Contrast(kind="failures", what="zero less masked", measure="words", difference=some(-4.0, 3.0), p=0.02),
            ),
            leakage=(Leakage(judges=("small-lr", "small-rubric"), relation="same model", score=some(0.11)),),
            mitigations=(
                Mitigation(
                    name="length_control",
                    axis="verbosity",
                    judge="scripted-long",
                    plain=some(0.29),
                    mitigated=some(0.03),
                    reduction=some(0.26),
                ),
                Mitigation(
                    name="masking",
                    axis="words",
                    judge="small-rubric",
                    what="drift with failures counted as zero, against drift with failures masked",
                    drift=True,
                    plain=Estimate.of(-30.0, n=1, why="one seed"),
                    mitigated=Estimate.of(4.0, n=1, why="one seed"),
                    reduction=Estimate.of(26.0, n=1, why="one seed"),
                ),
            ),
            opportunities=(
                Opportunity(
                    judge="small-lr",
                    axis="authority",
                    mode=Mode.BINARY,
                    what="good answers accepted: with the factor, less without it",
                    difference=some(0.125),
                    wrong=some(-0.05),
                ),
            ),
            absent=(Absent(what="swap_average", reason="no probe was asked <i>pairwise</i>"),),
        ),
        costs=(
            Cost(
                part="probes",
                judge="small-lr",
                calls=1200,
                cached=20,
                requests=1180,
                prompt_tokens=512000,
                completion_tokens=1180,
                seconds=312.0,
                money={"USD": 0.02},
            ),
        ),
        abstained=(Abstained(part="probes", judge="small-rubric", share=some(0.08), reasons={"unparseable": 14}),),
        skipped=(Skipped(what="probe self_preference", reason="no model-written items are mounted"),),
        configuration="name: quick\njudges: [small-lr]\n",
        versions={"numpy": "2.0"},
        lineage=(
            Lineage(name="probes", identity="a" * 64, uri="s3://gavel/quick/probes", sha256="b" * 64, seconds=31.0),
        ),
    )
