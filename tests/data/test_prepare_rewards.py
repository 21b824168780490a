"""A row that the chosen reward has no number for is refused while data are prepared."""

import json
from pathlib import Path

import pytest

from components.core.contracts import PROMPTS, read_table
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


def heldout_line(folder: Path) -> int:
    """Line of the file that holds a held-out row."""
    prepare(folder, [[SOFT]] * 6)
    prompts = read_table(folder / "out" / "heldout.parquet", PROMPTS).to_pylist()
    return 1 + int(prompts[0]["extra_info"]["question"].removeprefix("Write ").removesuffix("."))


@pytest.mark.parametrize(
    "overrides",
    [["reward.combine=verif"], ["reward={name: v, protocol: verif, value: binary}", "judge.serving=external"]],
    ids=["combine", "protocol"],
)
def test_a_heldout_penalty_is_told_by_its_line(tmp_path: Path, overrides: list[str]) -> None:
    line = heldout_line(tmp_path)
    penalty = {"text": "is rude", "points": -1}
    rubrics = [[SOFT, penalty] if number == line else [SOFT] for number in range(1, 7)]
    more = ["judge.endpoint=http://127.0.0.1:9", "judge.source=null"] if len(overrides) > 1 else []
    with pytest.raises(ContractError, match="'is rude' is a penalty") as caught:
        prepare(tmp_path, rubrics, *overrides, *more)
    assert caught.value.where.startswith("heldout.parquet, row ")
    assert caught.value.where.endswith(f"rows.jsonl, line {line})")


def test_heldout_rows_of_a_control_arm_need_only_a_rubric(tmp_path: Path) -> None:
    line = heldout_line(tmp_path)
    other = [[SOFT, RULE]] * 6
    other[line - 1] = [SOFT]
    assert prepare(tmp_path, other, "reward.combine=rule_only")["heldout_rows"] == 2


def test_data_prepared_under_another_reward_are_looked_at_again() -> None:
    depends = [STEP.depends(load_experiment("tiny", [f"reward.combine={name}"])) for name in ("rubric", "verif")]
    assert depends[0] != depends[1]
