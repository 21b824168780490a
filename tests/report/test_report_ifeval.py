"""IFEval in the report, counted by hand."""

import json
from pathlib import Path

import pytest
import scipy.stats

from components.core.errors import ContractError
from components.core.spec import load_experiment
from components.report.heldout import Sampling
from components.report.ifeval import read_ifeval

SAMPLING = Sampling(500, 0.95, 1)
TINY = load_experiment("tiny")
NO, YES = [False], [True]


def results(folder: Path, model: str, strict: list[tuple[str, list[bool]]], data: str = "as published") -> Path:
    place = folder / model
    place.mkdir(parents=True)
    for kind in ("strict", "loose"):
        rows = [
            {"prompt": prompt, "follow_instruction_list": [True] * len(followed) if kind == "loose" else followed}
            for prompt, followed in strict
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (place / f"eval_results_{kind}.jsonl").write_text(text)
    (place / "summary.json").write_text(json.dumps({"data": data}))
    return folder


def test_the_four_figures_and_the_change(tmp_path: Path):
    results(tmp_path, "base", [("a", NO), ("b", [True, False]), ("c", NO), ("d", YES)])
    results(tmp_path, "trained", [("a", YES), ("b", [True, True]), ("c", NO), ("d", YES)])
    found = read_ifeval(TINY, {"ifeval": tmp_path}, SAMPLING)
    assert found is not None
    base, trained = found.shares["base"], found.shares["trained"]
    assert {name: (share.value, share.n) for name, share in base.items()} == {
        "Pr_S": (0.25, 4),
        "Ins_S": (0.4, 5),
        "Pr_L": (1.0, 4),
        "Ins_L": (1.0, 5),
    }
    assert (trained["Pr_S"].value, trained["Ins_S"].value) == (0.75, 0.8)
    expected = scipy.stats.binomtest(3, 4).proportion_ci(0.95, method="wilson")
    assert (trained["Pr_S"].low, trained["Pr_S"].high) == pytest.approx((expected.low, expected.high))
    assert found.changes["Pr_S"].gain == 0.5
    assert found.changes["Ins_S"].gain == pytest.approx(0.4)
    # Nothing changed in four prompts: as many as Wilson's bound of 0 of 4 may change, 1.96² / (4 + 1.96²).
    for name in ("Pr_L", "Ins_L"):
        assert (found.changes[name].low, found.changes[name].high) == pytest.approx((-0.4899, 0.4899), abs=1e-4)
    assert (base["Ins_L"].low, base["Ins_L"].high) == pytest.approx((0.5101, 1.0), abs=1e-4)
    # Two rose and none fell: McNemar's statistic is 2 / sqrt(2), below 1.96, so that no change is not ruled out.
    assert -1.0 <= found.changes["Pr_S"].low < 0.0 < 0.5 <= found.changes["Pr_S"].high <= 1.0
    assert not found.corrected


def test_samples_of_a_prompt_count_by_their_mean(tmp_path: Path):
    results(tmp_path, "trained", [("a", YES), ("a", NO), ("b", YES), ("b", YES)], data="corrected")
    found = read_ifeval(TINY, {"ifeval": tmp_path}, SAMPLING)
    assert found is not None
    share = found.shares["trained"]["Pr_S"]
    assert (share.value, share.n) == (0.75, 2)
    # Two prompts: a resample has the mean of a, of b, or of both.
    assert (share.low, share.high) == (0.5, 1.0)
    assert found.corrected
    assert not found.changes


def test_one_prompt_has_no_interval(tmp_path: Path):
    found = read_ifeval(TINY, {"ifeval": results(tmp_path, "trained", [("a", YES)])}, SAMPLING)
    assert found is not None
    assert found.shares["trained"]["Pr_S"].low is None


def test_results_that_do_not_belong_together_are_refused(tmp_path: Path):
    results(tmp_path, "base", [("a", NO)])
    results(tmp_path, "trained", [("b", NO)])
    with pytest.raises(ContractError, match="answered other prompts"):
        read_ifeval(TINY, {"ifeval": tmp_path}, SAMPLING)


def test_what_was_asked_for_and_not_run_is_an_error(tmp_path: Path):
    assert read_ifeval(TINY, {}, SAMPLING) is None
    path = tmp_path / "prompts.jsonl"
    path.write_text("{}")
    asked = load_experiment("tiny", [f"evaluation.ifeval={{path: '{path}'}}"])
    with pytest.raises(ContractError, match="ran without it"):
        read_ifeval(asked, {}, SAMPLING)
    with pytest.raises(ContractError, match="no results"):
        read_ifeval(asked, {"ifeval": tmp_path}, SAMPLING)
