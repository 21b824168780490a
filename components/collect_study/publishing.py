"""The report as KFP's artifacts."""

from pathlib import Path

from components.bias.study_result import FILE, StudyResult
from components.collect_study.work import publish_report
from components.core.request import store_url
from components.core.spec.study_load import load_study
from components.core.step.kfp import Artifact, boundary, note_run, numbers
from components.study.records import read_file
from components.study_report.summary import headline
from components.study_report.write import PAGE


def kfp_report(study: str, store: str, html: Artifact, metrics: Artifact) -> None:
    """Publish the report inside a KFP component, and fill the artifacts.

    Raises:
        SystemExit: with status 1, after what went wrong was printed.
    """
    with boundary("study-report"):
        store = store_url(load_study(study).arms[0].experiment, store)
        left = publish_report(study, store)
        result = StudyResult.model_validate_json(read_file(store, left, FILE))
        metrics.metadata.update(numbers(headline(result)))
        html.metadata.update({"folder": left.uri, "sha256": left.sha256})
        path = Path(html.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(read_file(store, left, PAGE))
        note_run("study-report", store, uri=left.uri, sha256=left.sha256)
