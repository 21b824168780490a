"""The arms of a study as its result has them: curves of training, drift, and what judges make of the policies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from components.bias.drift.canaries import read_canaries
from components.bias.drift.result import Canary, Drift
from components.bias.drift.stored import heldout, rollouts
from components.bias.drift.table import Judged, changes, drift_rows, training_curve
from components.bias.estimate import Estimate
from components.bias.findings.parting import parting
from components.bias.result_arms import Arm as ArmResult
from components.bias.result_arms import Crossing, Parting
from components.collect_study.found import NOT_REACHED, Files, Found
from components.core.contracts import GENERATIONS, read_table
from components.core.statistics import SHARES, compare, prompt_mean
from components.gold.text import words
from components.reward.canaries.names import TABLE as CANARY_TABLE
from components.study.looks import AFTER, BEFORE, step_of
from components.study.records import Record
from components.study.scoring import label

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.study_load import Study

RESAMPLES: Final = 2000
_LEAST_LOOKS: Final = 3
_FEW: Final = "fewer than two prompts with a known value, or nothing varies"


def arm_results(study: "Study", found: Found, files: Files, confidence: float) -> list[ArmResult]:
    """Every arm, those that failed or were not reached with the reason.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    return [_arm(study, arm, found.arms.get(arm.name), files, confidence) for arm in study.arms]


def looks(arm: "Arm", record: Record, files: Files) -> dict[int, list[Judged]]:
    """Responses to the held-out prompts by training step, 0 being the policy before training.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    last, responses = arm.experiment.training.steps, {}
    for generations, scores in (("generations", "scores"), ("drift", "drift_scores")):
        if generations not in record.results:
            continue
        table = files.get(record, generations, "generations.parquet")
        for model in sorted(set(read_table(table, GENERATIONS).column("model").to_pylist())):
            step = step_of(model, last)
            if step is not None:
                responses[step] = heldout(
                    table,
                    model,
                    scores=files.get(record, scores, "scores.parquet"),
                    verdicts=files.get(record, scores, "verdicts.parquet"),
                )
    return dict(sorted(responses.items()))


def _arm(study: "Study", arm: "Arm", record: Record | None, files: Files, confidence: float) -> ArmResult:
    key, experiment = arm.key, arm.experiment
    about = {
        "name": arm.name,
        "judge": label(study, arm) if arm.judged else None,
        "control": key.control or "",
        "reward": key.reward,
        "policy": key.policy,
        "seed": key.seed,
        "failures": experiment.reward.failures,
        "mitigation": "panel" if experiment.panel is not None else "",
    }
    if record is None or record.error:
        reason = NOT_REACHED if record is None else record.error
        return ArmResult(**about, state="waiting" if record is None else "failed", reason=reason)
    looked = looks(arm, record, files)
    trained = rollouts(
        files.get(record, "training", "rollouts.parquet"), files.get(record, "scores", "rollout_scores.parquet")
    )
    drift: list[Drift] = []
    for step, responses in looked.items():
        drift += drift_rows(step, responses, confidence)
    steps = list(looked)
    return ArmResult(
        **about,
        steps=experiment.training.steps,
        curve=tuple(training_curve(trained, confidence)),
        drift=tuple(drift),
        canaries=tuple(canaries_of(arm, record, files)),
        changes=tuple(changes(looked[steps[0]], looked[steps[-1]], confidence, resamples=RESAMPLES, seed=key.seed)),
        parting=_parting(looked, confidence, key.seed) if arm.judged else None,
        uri=record.left("training").uri,
    )


def canaries_of(arm: "Arm", record: Record, files: Files) -> list[Canary]:
    """Canaries of the arm's training; none where it was shown none.

    Raises:
        GavelError: the table is missing or breaks its contract.
    """
    if arm.experiment.training.canaries is None:
        return []
    return read_canaries(files.get(record, "training", CANARY_TABLE))


def _parting(looked: dict[int, list[Judged]], confidence: float, seed: int) -> Parting | None:
    """Where the judge's reward and gold part over the held-out prompts; None with fewer than three looks."""
    if len(looked) < _LEAST_LOOKS:
        return None
    found = parting(
        {step: _means(responses, "proxy") for step, responses in looked.items()},
        {step: _means(responses, "gold") for step, responses in looked.items()},
        seed=seed,
        confidence=confidence,
    )
    why = found.reason or "a flat line up to the step and a rising one behind it fit the gap best"
    return Parting(
        parted=found.step is not None,
        step=found.step,
        low=found.low,
        high=found.high,
        n=found.prompts,
        unknown=found.dropped,
        why=why,
    )


def _means(responses: Sequence[Judged], what: str) -> dict[str, float | None]:
    """Mean over the known samples of each prompt."""
    rows: dict[str, list[float | None]] = {}
    for response in responses:
        rows.setdefault(response.row_id, []).append(getattr(response, what))
    return {row: prompt_mean(values) for row, values in rows.items()}


class Win(NamedTuple):
    """How one trained policy fares against the one before on one held-out prompt, under one judge.

    Attributes:
        prompt: its row.
        share: 1, 1/2 or 0: whether the mean reward rose, stayed or fell; None where either is unknown.
        longer_by: mean words of the trained policy's responses, less the mean before.
    """

    prompt: str
    share: float | None
    longer_by: float


def wins(study: "Study", found: Found, files: Files) -> dict[tuple[str, str], list[Win]]:
    """(judge, judge that trained) -> one for each arm and held-out prompt.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    told: dict[tuple[str, str], list[Win]] = {}
    for (name, scorer), crossed in found.crosses.items():
        arm = study.arm(name)
        if arm.key.control is not None:
            continue
        table = files.get(found.arms[name], "generations", "generations.parquet")
        scores = files.get(crossed, "scores", "scores.parquet")
        sides = [heldout(table, model, scores=scores) for model in (BEFORE, AFTER)]
        rewards, lengths = [_means(side, "proxy") for side in sides], [_lengths(side) for side in sides]
        pair = label(study, study.arm(scorer)), label(study, arm)
        for row, before in rewards[0].items():
            if row not in rewards[1]:
                continue
            after, share = rewards[1][row], None
            if before is not None and after is not None:
                share = 0.5 if after == before else float(after > before)
            told.setdefault(pair, []).append(Win(row, share, lengths[1][row] - lengths[0][row]))
    return told


def _lengths(responses: Sequence[Judged]) -> dict[str, float]:
    """Mean words of each prompt's responses."""
    rows: dict[str, list[int]] = {}
    for response in responses:
        rows.setdefault(response.row_id, []).append(len(words(response.text)))
    return {row: sum(counts) / len(counts) for row, counts in rows.items()}


def crossings(study: "Study", found: Found, files: Files, confidence: float) -> list[Crossing]:
    """Every policy by every judge that scored it.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    cells = []
    for arm in study.arms:
        record = found.arms.get(arm.name)
        for scorer in study.scorers:
            crossed = found.crosses.get((arm.name, scorer.name))
            if record is None or crossed is None:
                continue
            table = files.get(record, "generations", "generations.parquet")
            scores = files.get(crossed, "scores", "scores.parquet")
            base, trained = (heldout(table, model, scores=scores) for model in (BEFORE, AFTER))
            cells.append(_cell(arm.name, label(study, scorer), base, trained, confidence, arm.key.seed))
    return cells


def _cell(
    arm: str, judge: str, base: Sequence[Judged], trained: Sequence[Judged], confidence: float, seed: int
) -> Crossing:
    told = compare(
        _by_prompt(base), _by_prompt(trained), resamples=RESAMPLES, confidence=confidence, seed=seed, scale=SHARES
    )

    def estimate(value: float | None, interval: tuple[float | None, float | None] | None, unknown: int) -> Estimate:
        low, high = interval or (None, None)
        return Estimate.of(value, low, high, n=told.n, unknown=unknown, why=_FEW)

    return Crossing(
        arm=arm,
        judge=judge,
        trained=estimate(told.trained, told.trained_interval, told.unknown_trained),
        base=estimate(told.base, told.base_interval, told.unknown_base),
        gain=estimate(told.gain, (told.low, told.high), told.dropped),
    )


def _by_prompt(responses: Sequence[Judged]) -> dict[str, list[float | None]]:
    rows: dict[str, list[float | None]] = {}
    for response in responses:
        rows.setdefault(response.row_id, []).append(response.proxy)
    return rows
