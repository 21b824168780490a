"""Scores across judges that are missing stand in the study's result with the reason; they are not passed over."""

from pathlib import Path

import pytest

from components.collect_study.found import NOT_REACHED, find_all
from components.core.errors import StepError
from components.core.progress import Progress
from components.core.spec.study_load import Study, load_study
from components.cross_judge import work
from components.study.records import Left, Record, write_record
from components.study.scoring import cross_name, crossed_identity


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("quick")


def finished(study: Study, url: str) -> Record:
    """The first arm has a record of results; what they hold is asked of nobody here."""
    arm = study.arms[0]
    results = {name: Left(f"{url}/x/{name}/1/2", "b" * 64) for name in ("data", "generations")}
    record = Record(arm.identity(), results)
    write_record(url, study.spec.name, "arms", arm.name, record)
    return record


def test_what_no_judge_has_scored_is_told_of_finished_arms_alone(study: Study, tmp_path: Path) -> None:
    url = tmp_path.as_uri()
    left = finished(study, url)
    arm, scorer, other = study.arms[0], study.scorers[0], study.scorers[1]
    before = find_all(study, url)
    assert before.uncrossed == {(arm.name, each.name): NOT_REACHED for each in study.scorers}
    for each, error in ((scorer, ""), (other, "the judge does not come up")):
        results = {} if error else {"scores": Left(f"{url}/x/score/1/2", "c" * 64)}
        record = Record(crossed_identity(left, each), results, error)
        write_record(url, study.spec.name, "crosses", cross_name(arm, each), record)
    found = find_all(study, url)
    assert set(found.crosses) == {(arm.name, scorer.name)}
    assert found.uncrossed[arm.name, other.name] == "the judge does not come up"
    assert (arm.name, scorer.name) not in found.uncrossed
    # A report of other reasons is another report.
    assert found.hashes() != before.hashes()


def test_a_judge_that_cannot_score_an_arm_leaves_the_reason(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = tmp_path.as_uri()
    finished(study, url)
    arm, scorer = study.arms[0], study.scorers[1]

    def fails(*_: object) -> None:
        raise StepError("the budget is used up\nmore of it")

    monkeypatch.setattr(work, "find_published", lambda *_: None)
    monkeypatch.setattr(work, "perform", fails)
    (told,) = work.cross(study, scorer, url, Progress("cross-judge"))
    assert "the budget is used up" in told
    assert find_all(study, url).uncrossed[arm.name, scorer.name] == "the budget is used up"
    work.note_unscored(study, study.scorers[2], url, StepError("it does not come up"))
    assert find_all(study, url).uncrossed[arm.name, study.scorers[2].name] == "it does not come up"


def test_a_study_without_scores_across_judges_misses_none(tmp_path: Path) -> None:
    study = load_study("quick", ["cross=false"])
    finished(study, tmp_path.as_uri())
    assert find_all(study, tmp_path.as_uri()).uncrossed == {}
