"""Scores of an arm by a judge that are missing: noted by whoever tried, and told by the report with the reason."""

from pathlib import Path

import pytest

from components.collect_study.found import NOT_REACHED, Files, Uncrossed, find_all
from components.core.errors import ContractError, StepError
from components.core.progress import Progress
from components.core.spec.study_load import Study, load_study
from components.cross_judge import work
from components.study.records import Left, Record, read_record, write_record
from components.study.scoring import cross_name, crossed_identity

_STEPS = ("data", "training", "generations", "scores")
_STUDY = """
name: gaps
experiment: {use: tiny, training: {steps: 2}}
judges:
  - {judge: scripted-plain, rewards: [rubric]}
  - {judge: scripted-longer, rewards: [rubric]}
seeds: [1]
controls: []
probes: {names: [style], modes: [binary], items: 10}
drift: null
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))


def done(study: Study, store: str) -> None:
    """Records of arms that are there."""
    for arm in study.arms:
        results = {step: Left(f"{store}/{arm.name}/{step}/1/2", "a" * 64) for step in _STEPS}
        write_record(store, study.spec.name, "arms", arm.name, Record(arm.identity(), results))


def test_what_failed_and_what_nobody_tried_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, store = load_study(_STUDY), (tmp_path / "store").as_uri()
    done(study, store)
    (one, other), (plain, longer) = study.arms, study.scorers

    def perform(step: object, experiment: object, store_url: str, inputs: object) -> None:
        raise StepError("the judge is not usable: 9 of 9 samples abstain\nmore", where="judge")

    monkeypatch.setattr(work, "perform", perform)
    failed = work.cross(study, plain, store, Progress("test"))
    assert len(failed) == 2
    found = find_all(study, store)
    assert found.crosses == {}
    tried = Uncrossed("the judge is not usable: 9 of 9 samples abstain", failed=True)
    assert found.uncrossed == {
        (one.name, plain.name): tried,
        (other.name, plain.name): tried,
        (one.name, longer.name): Uncrossed(NOT_REACHED, failed=False),
        (other.name, longer.name): Uncrossed(NOT_REACHED, failed=False),
    }
    # The report is another one once they are there.
    before = found.hashes()
    record = read_record(store, "gaps", "arms", one.name, one.identity())
    assert record is not None
    scores = Record(crossed_identity(record, plain), {"scores": Left(f"{store}/x/score-stored/1/2", "b" * 64)})
    write_record(store, "gaps", "crosses", cross_name(one, plain), scores)
    after = find_all(study, store)
    assert after.crosses == {(one.name, plain.name): scores}
    assert after.hashes() != before


def test_a_judge_that_does_not_come_up_leaves_the_reason_of_every_arm_that_it_was_to_score(tmp_path: Path) -> None:
    study, store = load_study(_STUDY), (tmp_path / "store").as_uri()
    done(study, store)
    longer = study.scorers[1]
    missing = work.missing_crosses(study, longer, store)
    work.note_failure(study, longer, store, missing, StepError("the judge does not come up\nmore"))
    uncrossed = find_all(study, store).uncrossed
    told = Uncrossed("the judge does not come up", failed=True)
    assert [uncrossed[arm.name, longer.name] for arm in study.arms] == [told, told]


def test_a_study_without_scores_across_judges_misses_none(tmp_path: Path) -> None:
    study, store = load_study(_STUDY, ["cross=false"]), (tmp_path / "store").as_uri()
    done(study, store)
    assert find_all(study, store).uncrossed == {}


def test_a_record_without_a_result_is_told_and_no_key_error(tmp_path: Path) -> None:
    study, store = load_study(_STUDY), (tmp_path / "store").as_uri()
    for arm in study.arms:
        write_record(store, "gaps", "arms", arm.name, Record(arm.identity(), {}))
    with pytest.raises(ContractError, match="no result 'generations'"):
        find_all(study, store)
    with pytest.raises(ContractError, match="no result 'data'"):
        work.missing_crosses(study, study.scorers[0], store)
    with pytest.raises(ContractError, match="no result 'training'"):
        Files(store, tmp_path).get(Record("i", {}), "training", "rollouts.parquet")
