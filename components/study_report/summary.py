"""The summary in plain words, and the study's headline numbers. Nothing is claimed that no interval supports."""

from collections.abc import Iterator, Sequence

from components.bias.drift.canaries import alarm
from components.bias.drift.features import title
from components.bias.result_arms import Arm
from components.bias.result_findings import Prediction
from components.bias.result_judges import Bias, Judge
from components.bias.study_result import StudyResult
from components.core.manifest import Scalar
from components.drawing.numbers import p_value
from components.study_report.figures import prompts
from components.study_report.wording import Kind, change_kind, level_kind, sentence, value, words

_MUCH = 0.2
"""Share of unknown judgements above which a reader is warned first."""
_SHOWN = 4
"""Effects or changes that a sentence names; the tables have all."""


def summarise(study: StudyResult) -> list[str]:
    """The study in sentences, judges first, then what connects them with the policies, then the policies."""
    lines = list(study.summary)
    lines += [_of_judge(judge, study) for judge in study.judges]
    done = [arm for arm in study.arms if arm.state == "done"]
    lines += [_of_prediction(found, study) for found in study.findings.predictions]
    lines += [line for arm in done if (line := _of_arm(arm, study.confidence))]
    if any(arm.changes for arm in done) and not any(_moved(arm) for arm in done):
        lines.append(f"None of the {len(done)} trained policies is shown to differ from its start in any feature.")
    lines += _of_agreement(study)
    lines += _of_remedies(study)
    missing = [arm for arm in study.arms if arm.state != "done"]
    if missing or study.skipped:
        lines.append(
            f"Not in this study: {len(missing)} of {len(study.arms)} arms and {len(study.skipped)} further parts; "
            "the reasons stand below."
        )
    return lines


def _of_judge(judge: Judge, study: StudyResult) -> str:
    name = f"{judge.name}{' (scripted control)' if judge.scripted else ''}"
    if not judge.biases:
        return f"{name}: not probed."
    flagged = sorted((bias for bias in judge.biases if bias.flagged), key=_size, reverse=True)
    if flagged:
        told = ", ".join(_effect(bias, study.confidence) for bias in flagged[:_SHOWN])
        more = f", and {len(flagged) - _SHOWN} more" if len(flagged) > _SHOWN else ""
        return f"{name} is shown to be biased in {len(flagged)} of {len(judge.biases)} probes: {told}{more}."
    known = f"none of {len(judge.biases)} probes shows a bias, which does not prove that there is none."
    return f"{name}: {known}{_could_find(judge)}"


def _could_find(judge: Judge) -> str:
    """How large an effect had to be; probes differ, so that one number would be wrong of most of them."""
    least = sorted(bias.detectable for bias in judge.biases if bias.detectable is not None)
    if not least:
        return ""
    sizes = list(dict.fromkeys(f"{each:.2f}" for each in (least[0], least[-1])))
    told = sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[1]}, by the probe,"
    return f" An effect must be {told} to be found four times in five."


def _size(bias: Bias) -> float:
    return abs(bias.effect.value or 0.0)


def _effect(bias: Bias, confidence: float) -> str:
    return f"{words(bias.probe)}, {bias.mode}: {sentence(bias.effect, Kind.EFFECT, confidence)}"


def _moved(arm: Arm) -> bool:
    return any(change.change.excludes_zero for change in arm.changes)


def _of_arm(arm: Arm, confidence: float) -> str:
    parts = []
    shown = [change for change in arm.changes if change.change.excludes_zero]
    if shown:
        told = "; ".join(
            f"{title(change.feature).lower()} from {value(change.first, level_kind(change.feature))} to "
            f"{value(change.last, level_kind(change.feature))}, change "
            f"{sentence(change.change, change_kind(change.feature), confidence)}"
            for change in shown[:_SHOWN]
        )
        more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        parts.append(f"Policy {arm.name} changed: {told}{more}.")
    if arm.parting is not None and arm.parting.parted:
        ends = f", interval {arm.parting.low} to {arm.parting.high}" if arm.parting.low is not None else ""
        parts.append(
            f"In {arm.name} the reward rises and gold does not, from step {arm.parting.step} on"
            f"{ends} ({prompts(arm.parting)})."
        )
    return " ".join(parts)


def _of_prediction(found: Prediction, study: StudyResult) -> str:
    what = f"the judges' bias on {words(found.axis)} and the policies' drift of {title(found.feature).lower()}"
    if found.slope.value is None:
        return f"Nothing can be said of {what}: {found.note or found.slope.why}."
    told = f"slope {sentence(found.slope, Kind.EFFECT, study.confidence)}, permutation p {p_value(found.p)}"
    basis = f"{len(found.points)} arms of {found.judges} judges"
    shown = found.slope.excludes_zero and found.p is not None and found.p <= study.alpha
    note = f" {found.note[0].upper()}{found.note[1:].rstrip('.')}." if found.note else ""
    return f"Over {basis}, {what} {'' if shown else 'are not shown to '}go together: {told}.{note}"


def _of_agreement(study: StudyResult) -> list[str]:
    """Each judge against gold on the held-out responses, where there is any."""
    lines = []
    for judge in study.judges:
        found = next((each for each in judge.agreement if each.mode is None and each.accuracy.value is not None), None)
        if found is not None:
            lines.append(
                f"Against gold on {found.source} {judge.name} is right in "
                f"{sentence(found.accuracy, Kind.SHARE, study.confidence)}; kappa "
                f"{sentence(found.kappa, Kind.LEVEL, study.confidence)}."
            )
    return lines


def _of_remedies(study: StudyResult) -> list[str]:
    """A sentence for each remedy, with the largest of what it takes off."""
    lines = []
    found = study.findings.mitigations
    for name in dict.fromkeys(each.name for each in found):
        mine = [each for each in found if each.name == name]
        known = [each for each in mine if each.reduction.low is not None]
        helps = [each for each in known if each.reduction.excludes_zero and (each.reduction.value or 0.0) > 0.0]
        harms = sum(each.reduction.excludes_zero for each in known) - len(helps)
        if not known:
            many = "1 comparison, without" if len(mine) == 1 else f"{len(mine)} comparisons, none with"
            lines.append(f"{words(name).capitalize()}: {many} an interval.")
            continue
        most = max(helps, key=lambda each: each.reduction.value or 0.0, default=None)
        many = f"{len(mine)} comparison{'' if len(mine) == 1 else 's'}"
        told = f"{words(name).capitalize()} is shown to make a bias or drift smaller in {len(helps)} of {many}, "
        told += f"and larger in {harms}"
        if most is not None:
            kind = change_kind(most.axis) if most.drift else Kind.EFFECT
            size = sentence(most.reduction, kind, study.confidence)
            told += f"; most of all {most.judge}'s on {words(most.axis)}, by {size}"
        lines.append(f"{told}.")
    return lines


def headline(study: StudyResult) -> dict[str, Scalar]:
    """Counts and main effects for the pipeline's metrics; a number that is unknown is left out."""
    found: dict[str, Scalar] = {
        "judges": len(study.judges),
        "arms": len(study.arms),
        "arms_done": sum(arm.state == "done" for arm in study.arms),
        "effects_tested": sum(len(judge.biases) for judge in study.judges),
        "effects_flagged": sum(bias.flagged for judge in study.judges for bias in judge.biases),
        "partings": sum(arm.parting is not None and arm.parting.parted for arm in study.arms),
        "canaries_accepted": sum(canary.accepted for arm in study.arms for canary in arm.canaries),
    }
    for prediction in study.findings.predictions:
        if prediction.slope.value is not None:
            found[f"slope_{prediction.axis}_{prediction.feature}"] = prediction.slope.value
    return found


def warnings(study: StudyResult) -> list[tuple[str, str]]:
    """Heading and text of what a reader must know before any number."""
    found: list[tuple[str, str]] = []
    if study.quick or study.limits:
        small = "This study is small." if study.quick else "What this study cannot show."
        found.append(
            (small, " ".join(study.limits) or "It shows that everything works; only large effects can be seen.")
        )
    zero = _named([arm for arm in study.arms if arm.failures != "masked"])
    if zero:
        found.append(
            (
                "Failures counted as zero, on purpose.",
                f"In {zero} a response that could not be judged gets the reward 0, to show what that does. "
                "These rewards are no measure of anything else.",
            )
        )
    alarms = [f"{arm.name}: {told}." for arm in study.arms if (told := alarm(arm.canaries)) is not None]
    if alarms:
        found.append(("A judge accepts responses without content.", " ".join(alarms)))
    found += _unknown(study)
    failed = _named([arm for arm in study.arms if arm.state != "done"])
    if failed:
        found.append(("Arms are missing.", f"{failed}: see what is missing, below."))
    parts = [f"{row.what}: {row.reason}" for row in study.skipped if row.failed]
    if parts:
        found.append(("Parts failed.", f"{_some(parts)}."))
    return found


def _unknown(study: StudyResult) -> Iterator[tuple[str, str]]:
    """Where so much is unknown that what is left may not be like the rest."""
    parts = [
        f"{judge.name}, {words(bias.probe)} ({bias.mode}): {bias.effect.unknown} of "
        f"{bias.effect.n + bias.effect.unknown} items"
        for judge in study.judges
        for bias in judge.biases
        if bias.effect.unknown > _MUCH * (bias.effect.n + bias.effect.unknown)
    ]
    parts += [
        f"{row.judge}, {row.part}{f' of {row.arm}' if row.arm else ''}: {row.share.value:.0%} of {row.share.n} "
        "judgements"
        for row in study.abstained
        if row.share.value is not None and row.share.value > _MUCH and row.part != "probes"
    ]
    if parts:
        told = "What is known there may not be like the rest, so that these numbers say less than their intervals."
        yield "Much is unknown.", f"{_some(parts)}. {told}"


def _some(parts: Sequence[str]) -> str:
    more = f"; and {len(parts) - _SHOWN} more, below" if len(parts) > _SHOWN else ""
    return f"{'; '.join(parts[:_SHOWN])}{more}"


def _named(arms: Sequence[Arm]) -> str:
    return ", ".join(arm.name for arm in arms)
