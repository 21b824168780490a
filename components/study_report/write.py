"""From a study's result to its files; ``python -m components.study_report STUDY_JSON FOLDER`` does the same."""

from pathlib import Path

from components.bias.study_result import FILE, StudyResult, write_study
from components.core.manifest import Scalar
from components.study_report.figures import build_figures
from components.study_report.page import build_page
from components.study_report.summary import headline
from components.study_report.tables import build_tables

PAGE = "report.html"


def write_report(study: StudyResult, folder: Path) -> dict[str, Scalar]:
    """Write ``report.html``, ``study.json``, ``figures/*.csv`` and ``tables/*.csv``.

    Args:
        study: whole, or as far as it got: what is missing is told.
        folder: made where it is not there.

    Returns:
        The headline numbers, for a pipeline's metrics; one that is unknown is left out.
    """
    figures = build_figures(study)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for found in figures.values():
        for drawn in found:
            (folder / "figures" / f"{drawn.figure.key}.csv").write_text(drawn.figure.csv(), encoding="utf-8")
    tables = build_tables(study)
    (folder / "tables").mkdir(exist_ok=True)
    for key, table in tables.items():
        (folder / "tables" / f"{key}.csv").write_text(table.csv(), encoding="utf-8")
    write_study(folder / FILE, study)
    (folder / PAGE).write_text(build_page(study, figures, tables), encoding="utf-8")
    return headline(study)
