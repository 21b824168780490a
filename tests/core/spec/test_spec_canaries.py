"""Canaries in an experiment and in a study: what they change, what they leave alone, and where they are refused."""

from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.identity import digest
from components.core.spec import Experiment, load_experiment
from components.core.spec.study_load import load_study
from components.reward.canaries.unused import SOURCES
from components.train.step import STEP

NONE, SOME = load_experiment("tiny"), load_experiment("tiny", ["training.canaries={}"])


def test_an_experiment_without_them_has_the_hash_that_it_had_before_there_were_any() -> None:
    tree = NONE.model_dump(mode="json")
    assert tree["training"].pop("canaries") is None
    # tiny names no file and no template whose content would stand for it.
    assert NONE.digest() == digest(tree)
    assert "canaries" not in NONE.training_identity()
    assert "canaries" not in NONE.to_json()
    assert Experiment.from_json(NONE.to_json()) == NONE


def test_they_are_part_of_a_trainings_result_and_of_nothing_else() -> None:
    assert NONE.digest() != SOME.digest()
    assert SOME.training_identity() == NONE.training_identity() | {"canaries": {"per_step": 2, "alarm_above": None}}
    for part in ("data", "policy", "judge", "reward", "rewarding", "generation", "evaluation"):
        assert getattr(NONE, f"{part}_identity")() == getattr(SOME, f"{part}_identity")()


def test_their_sources_repeat_no_training_without_them() -> None:
    assert set(SOURCES) <= set(STEP.unused(NONE))
    assert not set(SOURCES) & set(STEP.unused(SOME))


@pytest.mark.parametrize(
    ("reward", "threshold"),
    [
        ("{use: rubric}", 0.0),
        ("{use: likelihood-ratio}", 0.5),
        ("{use: likelihood-ratio-binary}", 0.0),
    ],
)
def test_the_largest_reward_that_is_no_alarm(reward: str, threshold: float) -> None:
    found = load_experiment("tiny", [f"reward={reward}", "training.canaries={}"])
    assert found.training.canaries is not None
    assert found.training.canaries.threshold(found.reward) == threshold
    told = found.training.canaries.model_copy(update={"alarm_above": 0.3})
    assert told.threshold(found.reward) == 0.3


@pytest.mark.parametrize("control", ["length", "random", "format"])
def test_control_arms_have_no_judge_to_show_them_to(control: str) -> None:
    with pytest.raises(ConfigError, match=rf"training\.canaries: .*{control} no judge is asked in training"):
        load_experiment("tiny", [f"reward={{use: {control}}}", "training.canaries={}"])


def test_what_workflows_answer_is_no_place_for_them() -> None:
    with pytest.raises(ConfigError, match=r"training\.canaries: "):
        load_experiment("tiny_workflow", ["training.canaries={}"])


def _study(folder: Path, **keys: str) -> Path:
    known = {
        "experiment": "{use: tiny, training: {steps: 4}}",
        "judges": "[{judge: scripted-plain, rewards: [rubric], failures: [masked, zero_as_control]}]",
        "seeds": "[1]",
        "controls": "[length, random]",
        "probes": "{names: [position], items: 48}",
    } | keys
    path = folder / "mine.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in known.items()), encoding="utf-8")
    return path


def test_a_studys_judged_arms_have_them_and_its_controls_do_not(tmp_path: Path) -> None:
    study = load_study(_study(tmp_path))
    assert [arm.judged for arm in study.arms] == [True, True, False, False]
    for arm in study.arms:
        canaries = arm.experiment.training.canaries
        assert (canaries is not None) == arm.judged
        assert canaries is None or canaries.per_step == 2
        # An arm travels as text.
        assert Experiment.from_json(arm.experiment.to_json()) == arm.experiment


def test_a_study_says_how_many_or_none_whatever_the_experiment_says(tmp_path: Path) -> None:
    base = "{use: tiny, training: {steps: 4, canaries: {per_step: 9}}}"
    few = load_study(_study(tmp_path, experiment=base, canaries="{per_step: 1, alarm_above: 0.2}"))
    assert {arm.experiment.training.canaries.per_step for arm in few.arms if arm.experiment.training.canaries} == {1}
    none = load_study(_study(tmp_path, experiment=base, canaries="null"))
    assert {arm.experiment.training.canaries for arm in none.arms} == {None}
    assert load_study(few.text).arms == few.arms


def test_a_mistake_in_a_studys_canaries_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"study\.canaries\.per_step[\s\S]*mine\.yaml:6"):
        load_study(_study(tmp_path, canaries="{per_step: 0}"))
