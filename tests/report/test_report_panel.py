"""A panel in the report: each member's acceptance and the agreement, counted by hand."""

import dataclasses
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.core.contracts import VERDICTS
from components.core.spec import Experiment
from components.report.step import STEP

SAID = {
    # sample: (judge of the experiment, second judge)
    "a": ("met", "met"),
    "b": ("met", "unmet"),
    "c": ("unmet", "unmet"),
    "d": ("unmet", "unknown"),
    "e": ("met", "met"),
}


def with_panel(experiment: Experiment) -> Experiment:
    tree = json.loads(experiment.to_json())
    tree["panel"] = {"members": [tree["judge"] | {"name": "second"}], "combine": "minimum"}
    return Experiment.from_json(json.dumps(tree))


def rows(first: str) -> list[dict[str, object]]:
    found = []
    for sample, statuses in SAID.items():
        for judge, status in zip((first, "second"), statuses, strict=True):
            found.append((sample, judge, status))
    found.insert(0, ("a", first, "unmet"))
    found.append(("a", "panel", "unmet"))
    return [
        {
            "sample_id": sample,
            "row_id": "r",
            "criterion": "x",
            "criterion_index": 0,
            "status": status,
            "probability": None,
            "log_ratio": None,
            "reason": "timeout" if status == "unknown" else None,
            "judge": judge,
            "protocol": "p/1",
            "attempts": 1,
            "seconds": 0.1,
            "prompt_tokens": 1,
            "response_chars": 1,
            "raw_id": None,
            "time": 1.0,
            "mass": None,
            "explanation": None,
        }
        for sample, judge, status in found
    ]


def test_members_acceptance_and_agreement_are_told(world, make_context, experiment):
    panel = with_panel(experiment)
    context = dataclasses.replace(make_context(world), experiment=panel)
    table = pa.Table.from_pylist(rows(panel.judge.name), schema=VERDICTS)
    pq.write_table(table, context.inputs["scores"] / "verdicts.parquet")
    STEP.run(context)
    found = json.loads((context.out / "summary.json").read_text())["panel"]["evaluation"]
    # A repeated sample counts once, with its newest verdict; the panel's own verdict is no member's.
    assert found["members"][panel.judge.name] == {"met": 3, "unmet": 2, "unknown": 0, "acceptance": 0.6}
    assert found["members"]["second"] == {"met": 2, "unmet": 2, "unknown": 1, "acceptance": 0.5}
    assert (found["units"], found["split"]) == (4, 1)
    # Four pairs, values met 5 and unmet 3, one pair unequal (2 ordered ones): 1 - 7 * 2 / (5 * 3 * 2).
    assert found["alpha"] == pytest.approx(1 - 7 * 2 / 30)
    page = (context.out / "report.html").read_text()
    assert "alpha 0.533" in page
    assert "60.0 %" in page
    assert "the minimum of" in page


def test_one_judge_has_no_panel(written):
    assert "panel" not in json.loads((written.out / "summary.json").read_text())
    assert '<h2 id="panel">' not in (written.out / "report.html").read_text()
