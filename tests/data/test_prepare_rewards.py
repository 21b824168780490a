"""A training row that the chosen reward has no number for is refused while data are prepared."""

import json
from pathlib import Path

import pytest

from components.core.errors import ContractError
from components.core.progress import Progress
from components.core.spec import load_experiment
from components.core.step import StepContext
from components.data.step import STEP

RULE = {
    "text": "1 to 9 words",
    "verifier": "rule",
    "rule": {"name": "word_count_range", "min_count": 1, "max_count": 9},
}
SOFT = {"text": "is kind"}


def prepare(folder: Path, rubrics: list[list[dict[str, object]]], *overrides: str) -> dict[str, object]:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps({"prompt": f"Write {n}.", "criteria": r}) + "\n" for n, r in enumerate(rubrics)))
    given = ["data.kind=jsonl", f"data.path={file}", "data.criteria=[]", "data.gold=null", "data.heldout_rows=2"]
    experiment = load_experiment("tiny", [*given, "data.train_rows=4", *overrides])
    out = folder / "out"
    out.mkdir(exist_ok=True)
    return dict(STEP.run(StepContext(experiment, {}, {}, out, folder, "id", Progress("p"), state=folder)))


def test_rule_only_needs_a_rule_in_every_row(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"no rule line(.|\n)*train.parquet, row "):
        prepare(tmp_path, [[SOFT]] * 6, "reward.combine=rule_only")
    assert prepare(tmp_path, [[SOFT, RULE]] * 6, "reward.combine=rule_only")["train_rows"] == 4


def test_verif_takes_no_penalty(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="is a penalty"):
        prepare(tmp_path, [[SOFT, RULE | {"points": -1}]] * 6, "reward.combine=verif")
    prepare(tmp_path, [[SOFT, RULE | {"points": -1}]] * 6)
