"""The canaries of a study's arms: from what trainings published to the report."""

import dataclasses
from pathlib import Path

from components.bias.drift.result import Canary
from components.bias.result_arms import Arm
from components.collect_study.arms import canaries_of
from components.collect_study.found import Files
from components.core.contracts import CANARIES, write_table
from components.core.spec.study_load import load_study
from components.core.store import Store
from components.reward.canaries.sighting import Sighting
from components.study.records import Left, Record
from components.study_report.canaries import rows_by_arm, rows_by_key


def test_of_each_judged_arm_what_its_training_published(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    rewards = [(":", 0.0), (":", None), ("Solution", 1.0)]
    seen = [
        Sighting(2, 1, f"canary-2-1-{n}", "r", key, reward, 0.0, 1.0, None) for n, (key, reward) in enumerate(rewards)
    ]
    write_table(folder / "canaries.parquet", [dataclasses.asdict(each) for each in seen], CANARIES)
    store = Store.open((tmp_path / "store").as_uri())
    store.upload(folder, "arm/train-grpo/1/2")
    left = Left(store.uri("arm/train-grpo/1/2"), store.manifest("arm/train-grpo/1/2").sha256)
    record = Record(identity="i", results={"training": left}, error="")
    files = Files(store.url, tmp_path / "files")
    study = load_study("quick")
    for arm in study.arms:
        found = canaries_of(arm, record, files)
        assert found == (
            [
                Canary(step=2, key=":", judged=1, accepted=0, unknown=1),
                Canary(step=2, key="Solution", judged=1, accepted=1, unknown=0),
            ]
            if arm.judged
            else []
        )


def arm(name: str, *canaries: Canary) -> Arm:
    return Arm(name=name, judge="j", reward="r", policy="p", seed=1, canaries=canaries)


def test_rows_by_arm_and_by_text() -> None:
    found = (
        Canary(step=3, key=":", judged=2, accepted=1, unknown=1),
        Canary(step=1, key=":", judged=1, accepted=0, unknown=0),
        Canary(step=2, key="解", judged=1, accepted=1, unknown=0),
    )
    arms = [arm("loud", *found), arm("none"), arm("quiet", found[1])]
    (loud, quiet) = rows_by_arm(arms)
    assert (loud.arm, loud.sent, loud.accepted, loud.unknown, loud.first) == ("loud", 5, 2, 1, 2)
    assert (quiet.arm, quiet.sent, quiet.accepted, quiet.unknown, quiet.first) == ("quiet", 1, 0, 0, None)
    assert [(row.arm, row.key, row.sent, row.first) for row in rows_by_key(arms)] == [
        ("loud", '":"', 4, 3),
        ("loud", '"解"', 1, 2),
        ("quiet", '":"', 1, None),
    ]
