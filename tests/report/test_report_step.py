"""The step as a whole: what it writes and returns, and what its identity hangs on."""

import dataclasses
import json
from pathlib import Path

import pytest

from components.core.spec import load_experiment
from components.report.step import STEP

ROOT = Path(__file__).resolve().parents[2]
QUICKSTART = ROOT / "configs" / "experiments" / "quickstart.yaml"


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_writes_what_it_promises(written):
    assert set(files(written.out)) == {
        "report.html",
        "summary.json",
        "figures/heldout_levels.csv",
        "figures/heldout_gains.csv",
        "figures/judge_gain_parts.csv",
        "figures/proxy_gold_by_step.csv",
        "figures/echo_length_by_step.csv",
        "figures/step_times.csv",
    }


def test_it_returns_the_headline_and_writes_the_same_bytes_again(written, make_context, world):
    context = make_context(world)
    found = STEP.run(context)
    assert found["gold_base"] == 12 / 96
    assert found["gold_trained"] == 56 / 96
    assert found["gold_gain"] == pytest.approx(44 / 96)
    assert found["n"] == 96
    assert found["low"] < found["gold_gain"] < found["high"]
    assert files(context.out) == files(written.out)


def test_the_summary_is_strict_json_with_documented_keys(written):
    def refuse(text):
        raise AssertionError(f"{text} in summary.json")

    summary = json.loads((written.out / "summary.json").read_text(encoding="utf-8"), parse_constant=refuse)
    documented = (ROOT / "components" / "report" / "SUMMARY.md").read_text(encoding="utf-8")

    def keys(part):
        for key, value in part.items():
            yield key
            if isinstance(value, dict) and key not in OPEN:
                yield from keys(value)

    # Below these the keys are data: the experiment's own, reasons, rules, package names.
    OPEN = {"experiment", "unknown", "abstain_reasons", "rules", "packages", "git", "inputs", "lineage"}  # noqa: N806
    assert [key for key in keys(summary) if f"`{key}`" not in documented] == []
    assert summary["schema"] == "gavel.report/1"
    assert summary["verdict"]["label"] == "both"
    assert summary["judge"]["same_as_policy"] is True
    assert set(summary["lineage"]) == {"data", "training", "generations", "scores"}


def test_identity_hangs_on_what_the_report_says_and_not_on_where_it_ran():
    plain = STEP.depends(load_experiment(QUICKSTART))
    for override in (
        "cluster=local-folder",
        "judge.timeout_seconds=7",
        "judge.port=4321",
        "training.deadline_minutes=59",
    ):
        assert STEP.depends(load_experiment(QUICKSTART, [override])) == plain, override
    for override in ("evaluation.confidence=0.9", "evaluation.bootstrap_samples=500", "seed=2", "judge.weak=other"):
        assert STEP.depends(load_experiment(QUICKSTART, [override])) != plain, override
    assert json.loads(json.dumps(plain)) == plain


def test_ifeval_is_shown_where_it_was_run(make_context, world, tmp_path):
    folder = tmp_path / "ifeval"
    for model, followed in (("base", [True, False]), ("trained", [True, True])):
        (folder / model).mkdir(parents=True)
        rows = [json.dumps({"prompt": prompt, "follow_instruction_list": followed}) for prompt in "abc"]
        for kind in ("strict", "loose"):
            (folder / model / f"eval_results_{kind}.jsonl").write_text("\n".join(rows) + "\n")
        (folder / model / "summary.json").write_text('{"data": "as published"}')
    context = make_context(world)
    context = dataclasses.replace(context, inputs={**context.inputs, "ifeval": folder})
    STEP.run(context)
    summary = json.loads((context.out / "summary.json").read_text(encoding="utf-8"))
    assert summary["ifeval"]["changes"]["Ins_S"]["gain"] == 0.5
    page = (context.out / "report.html").read_text(encoding="utf-8")
    assert 'id="ifeval"' in page
    assert "+50.0 points" in page
