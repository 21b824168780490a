"""Tables that a reader downloads: the same rows as on the page, numbers in full precision."""

from collections.abc import Mapping

from components.bias.estimate import Estimate
from components.bias.result_judges import Judge
from components.bias.study_result import StudyResult
from components.drawing.figure import Cell, Figure
from components.study_report.figures import NUMBER, cells


def columns(name: str) -> tuple[str, ...]:
    """Columns of an estimate under a name, and why it has no value or no interval."""
    return (*(name if part == "value" else f"{name}_{part}" for part in NUMBER), f"{name}_why")


def row(estimate: Estimate | None) -> tuple[Cell, ...]:
    """An estimate under :func:`columns`."""
    return (*cells(estimate), None if estimate is None else estimate.why)


def build_tables(study: StudyResult) -> Mapping[str, Figure]:
    """Key -> table; those without rows are left out. None is drawn."""
    found = (
        _agreement(study),
        _calibration(study),
        _noise(study),
        _opportunities(study),
        _mitigations(study),
        _contrasts(study),
        _leakage(study),
        _absent(study),
    )
    return {table.key: table for table in found if table.rows}


def _table(key: str, title: str, names: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> Figure:
    return Figure(key, title, "", "", names, tuple(rows))


def _agreement(study: StudyResult) -> Figure:
    parts = (
        "accuracy",
        "kappa",
        "pairs",
        "consistency",
        "accepts_right",
        "accepts_wrong",
        "ranking",
        "calibration_error",
    )
    rows: list[tuple[Cell, ...]] = [
        (
            judge.name,
            found.source,
            _mode(found.mode),
            *(cell for part in parts for cell in row(getattr(found, part))),
        )
        for judge in study.judges
        for found in judge.agreement
    ]
    names = ("judge", "gold", "mode", *(name for part in parts for name in columns(part)))
    return _table("agreement", "Agreement with gold", names, rows)


def _calibration(study: StudyResult) -> Figure:
    rows: list[tuple[Cell, ...]] = [
        (judge.name, found.source, _mode(found.mode), part.low, part.high, part.stated, *row(part.right))
        for judge in study.judges
        for found in judge.agreement
        for part in found.calibration
    ]
    names = ("judge", "gold", "mode", "low", "high", "mean_stated", *columns("right"))
    return _table("calibration", "Calibration", names, rows)


def _noise(study: StudyResult) -> Figure:
    rows: list[tuple[Cell, ...]] = [line for judge in study.judges for line in _noise_of(judge)]
    names = ("judge", "mode", "askings", *columns("contradicting"), *columns("apart"), *columns("alpha"))
    return _table("noise", "Noise floor", names, rows)


def _noise_of(judge: Judge) -> list[tuple[Cell, ...]]:
    if not judge.noise:
        missing = Estimate.missing(judge.noise_unknown or "it was not asked twice")
        return [(judge.name, None, None, *row(missing), *row(missing), *row(missing))]
    return [
        (judge.name, _mode(found.mode), found.repeats, *row(found.flips), *row(found.apart), *row(found.alpha))
        for found in judge.noise
    ]


def _opportunities(study: StudyResult) -> Figure:
    rows: list[tuple[Cell, ...]] = [
        (found.judge, found.axis, _mode(found.mode), found.what, *row(found.difference), *row(found.wrong))
        for found in study.findings.opportunities
    ]
    names = ("judge", "factor", "mode", "what", *columns("difference"), *columns("difference_of_wrong"))
    return _table("opportunity", "Equal opportunity", names, rows)


def _mitigations(study: StudyResult) -> Figure:
    rows: list[tuple[Cell, ...]] = [
        (
            found.name,
            found.axis,
            found.judge,
            found.what,
            "drift" if found.drift else "bias",
            *row(found.plain),
            *row(found.mitigated),
            *row(found.reduction),
        )
        for found in study.findings.mitigations
    ]
    names = ("remedy", "axis", "judge", "what", "of", *columns("without"), *columns("with"), *columns("smaller_by"))
    return _table("remedies", "Remedies", names, rows)


def _contrasts(study: StudyResult) -> Figure:
    rows: list[tuple[Cell, ...]] = [
        (found.kind, found.what, found.measure, found.judges, *row(found.difference), found.p)
        for found in study.findings.contrasts
    ]
    return _table("contrasts", "Groups", ("kind", "what", "measure", "judges", *columns("difference"), "p"), rows)


def _leakage(study: StudyResult) -> Figure:
    rows: list[tuple[Cell, ...]] = [
        (*found.judges, found.relation, *row(found.score)) for found in study.findings.leakage
    ]
    return _table("leakage", "Preference leakage", ("judge", "other", "relation", *columns("score")), rows)


def _absent(study: StudyResult) -> Figure:
    rows: list[tuple[Cell, ...]] = [(found.what, found.reason) for found in study.findings.absent]
    return _table("absent", "Comparisons that are absent", ("what", "reason"), rows)


def _mode(mode: object) -> str:
    return "as in training" if mode is None else str(mode)
