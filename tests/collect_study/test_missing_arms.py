"""An arm that is missing stands once in a study's result: among the arms, and not among what was left out as well."""

import re
from pathlib import Path

import pytest

from components.collect_study.found import NOT_REACHED, Files, find_all
from components.collect_study.work import collected
from components.core.spec.study_load import Study, load_study
from components.study.records import Record, write_record
from components.study_report.write import PAGE, write_report

_STUDY = """
name: gaps
experiment: {use: tiny, training: {steps: 2}}
judges:
  - {judge: scripted-plain, rewards: [rubric]}
  - {judge: scripted-longer, rewards: [rubric]}
seeds: [1, 2]
controls: []
probes: {names: [style], modes: [binary], items: 10}
drift: null
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    return load_study(_STUDY)


def test_arms_that_failed_or_were_not_reached_stand_once_each(study: Study, tmp_path: Path) -> None:
    store = (tmp_path / "store").as_uri()
    failed, *others = study.arms
    write_record(store, "gaps", "arms", failed.name, Record(failed.identity(), {}, "train-grpo: out of memory"))
    result = collected(study, find_all(study, store), Files(store, tmp_path / "files"))
    assert [(arm.name, arm.state, arm.reason) for arm in result.arms] == [
        (failed.name, "failed", "train-grpo: out of memory"),
        *((arm.name, "waiting", NOT_REACHED) for arm in others),
    ]
    # Of what has no line of its own: both judges, which nobody probed.
    assert [row.what for row in result.skipped] == [
        "probes of judge scripted-plain",
        "probes of judge scripted-longer",
    ]
    # Nobody could score what is not there, so that this is no further thing that is missing.
    assert result.crossings == ()
    write_report(result, tmp_path / "report")
    page = (tmp_path / "report" / PAGE).read_text(encoding="utf-8")
    missing = page.partition('<h2 id="missing">')[2].partition("</ul>")[0]
    lines = re.findall(r"<li>(.*?)</li>", missing)
    for arm in study.arms:
        assert sum(arm.name in line for line in lines) == 1
    assert len(lines) == len(study.arms) + len(study.scorers)
