"""The report's section on workflows, from tables that the real writers wrote, counted by hand."""

import base64
import csv
import dataclasses
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from training_files import ANSWERS, Answer, Work, experiment, invalid, prompts, right, workflow, wrong

from components.core.contracts import TASK_SCORES, WORKFLOWS, write_table
from components.report.summary import plain
from components.report.tasks.page import build_page
from components.report.tasks.results import Results
from components.report.tasks.rollouts import Learning, Rollout, count
from components.report.tasks.summary import Findings, build_summary, headline
from components.report.tasks.workflow_figures import workflow_figures
from components.report.tasks.workflow_plots import draw
from components.report.tasks.workflows import Workflows, read_workflows
from components.tasks.statistics import Sampling, comparison, results
from components.workflow.buffer.store import SCHEMA

SAMPLING = Sampling(200, 0.95, 1)
MODELS = {"base": (0, 4), "trained": (2, 8), "direct": (3, 1), "hand_written": (4, 3), "random_valid": (0, 2)}
"""Model -> right ones of four tasks, calls of 100 tokens a workflow."""


def as_tested(name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Scores, workflows and figures of one model on four tasks of GSM8K; of the base one text is a workflow."""
    solved, calls = MODELS[name]
    scores, flows = [], []
    for place in range(4):
        made = (right if place < solved else wrong)(-1, "m1", place, tokens=100 * calls, seconds=1.0)
        if name == "base" and place:
            made = invalid(-1, "m1", place)
        answer = dataclasses.replace(made, operators=("Custom",) * calls if made.source else ())
        flows.append({**workflow(answer, name), "sample_id": f"{name}-t{place}-0"})
        scores.append(
            {
                "model": name, "dataset": "gsm8k", "domain": "math", "row_id": f"t{place}", "sample_index": 0,
                "correct": place < solved, "exact": None, "f1": None, "answer": None, "detail": "", "parts": "{}",
            }
        )  # fmt: skip
    measured = {"gsm8k": {"accuracy": {row["row_id"]: [float(row["correct"])] for row in scores}}}
    return scores, flows, measured


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    tmp_path = tmp_path_factory.mktemp("inputs")
    work = Work(tmp_path / "state", experiment())
    work.begin()
    work.answer(*ANSWERS)
    training = Path(work.publish(tmp_path / "store").removeprefix("file://"))
    rows = [entry_row("math", 1), entry_row("math", 2), entry_row("qa", 2)]
    (training / "buffer").mkdir()
    write_table(training / "buffer" / "buffer.parquet", rows, SCHEMA)
    scores = tmp_path / "scores"
    found = {name: as_tested(name) for name in MODELS}
    for name, (_, _, measured) in found.items():
        (scores / name).mkdir(parents=True)
        result = results(name, measured, SAMPLING, comparable=True, samples={"gsm8k": 4})
        (scores / name / "results.json").write_text(json.dumps(result))
    others = {
        name: comparison(measured, found["trained"][2], SAMPLING)
        for name, (_, _, measured) in found.items()
        if name != "trained"
    }
    (scores / "comparisons.json").write_text(json.dumps(others))
    write_table(scores / "scores.parquet", [row for rows, _, _ in found.values() for row in rows], TASK_SCORES)
    write_table(scores / "workflows.parquet", [row for _, rows, _ in found.values() for row in rows], WORKFLOWS)
    prompts(tmp_path / "data" / "train.parquet")
    return {"training": training, "scores": scores, "data": tmp_path / "data"}


def entry_row(domain: str, step: int) -> dict[str, Any]:
    texts = ("problem_id", "problem_hash", "dataset", "problem", "workflow", "workflow_hash", "judge", "executor")
    numbers = {"reward": 0.9, "step": step, "time": 1.0, "embedding": [1.0]}
    return {**dict.fromkeys(texts, "x"), **numbers, "domain": domain, "parts": "{}"}


@pytest.fixture(scope="module")
def found(inputs: dict[str, Path]) -> Workflows:
    read = read_workflows(experiment(), inputs, SAMPLING)
    assert read is not None
    return read


def test_an_experiment_without_workflows_has_no_such_section(inputs: dict[str, Path]) -> None:
    assert read_workflows(experiment_without(), inputs, SAMPLING) is None


def experiment_without() -> Any:
    from components.core.spec import load_experiment

    return load_experiment("tiny_mixed")


def test_training_is_counted(found: Workflows) -> None:
    assert (found.total.valid, found.total.checked, found.total.right, found.total.scored) == (6, 8, 3, 7)
    assert list(found.domains) == ["all", "math", "qa", "code"]
    assert found.right["math"].value == 0.75
    first, second = found.steps[1], found.steps[2]
    # Step 1: m1 half, q1 none; step 2: m2 both, c1 its one known.
    assert (first.right.value, second.right.value) == (0.25, 0.5)
    assert (first.valid.value, second.valid.value) == (0.75, 0.75)
    assert first.parts["correctness"] == 0.0
    assert second.parts["correctness"] == 0.65
    assert found.trends["right"].change == pytest.approx(2 / 3 - 1 / 4)


def test_reasons_come_with_shares_and_kinds(found: Workflows) -> None:
    kinds = {name: (each.kind, each.responses, each.share.value) for name, each in found.reasons.items()}
    assert kinds == {
        "abstained:judge_down": ("abstained", 1, 0.125),
        "failed:exception": ("failed", 1, 0.125),
        "invalid:no_code": ("invalid", 1, 0.125),
        "invalid:syntax": ("invalid", 1, 0.125),
    }


def test_the_buffer_by_the_steps_that_brought_its_entries(found: Workflows) -> None:
    assert found.buffer is not None
    assert found.buffer.entries == {"math": 2, "qa": 1}
    assert found.buffer.steps == {1: {"math": 1, "qa": 0}, 2: {"math": 2, "qa": 1}}
    # Three quarters of the way from -1 to 1.
    assert (found.buffer.capacity, found.buffer.least) == (100, 0.5)


def test_models_stand_in_their_order_with_what_a_right_answer_cost(found: Workflows) -> None:
    assert [each.name for each in found.models] == ["base", "trained", "direct", "hand_written", "random_valid"]
    base, trained, direct, written, random = found.models
    assert (trained.right, trained.answers, trained.tokens) == (2, 4, 3200)
    assert (trained.per_answer(trained.tokens), trained.per_right(trained.tokens)) == (800, 1600)
    assert direct.per_right(direct.tokens) == pytest.approx(400 / 3)
    assert written.per_right(written.tokens) == 300
    assert random.per_right(random.tokens) is None
    assert (base.valid, base.checked) == (1, 4)
    assert (direct.gains["gsm8k"].gain, written.gains["gsm8k"].gain) == (-0.25, -0.5)
    assert base.gains["gsm8k"].gain == 0.5
    assert trained.gains == {}
    low, high = direct.gains["gsm8k"].low, direct.gains["gsm8k"].high
    assert low is not None
    assert high is not None
    # One of four fell: nothing to be sure of.
    assert low < -0.25 < 0 < high


def test_every_figure_is_drawn_named_and_downloadable(found: Workflows) -> None:
    figures = {figure.key: figure for figure in workflow_figures(found)}
    names = ("validity", "reward_parts", "failures", "cost", "buffer", "models", "gains")
    assert list(figures) == [f"workflow_{name}" for name in names]
    for figure in figures.values():
        picture = ET.fromstring(draw(figure))
        assert picture.attrib["role"] == "img"
        texts = [each.text for each in picture.iter() if each.tag.endswith(("title", "desc"))]
        assert figure.title in texts
        assert figure.alt in texts
        assert figure.alt
        rows = list(csv.reader(io.StringIO(figure.csv())))
        assert tuple(rows[0]) == figure.columns
        assert len(rows) == len(figure.rows) + 1
    cost = list(csv.DictReader(io.StringIO(figures["workflow_cost"].csv())))
    # Step 1: three workflows with 4 calls, 600 tokens, 6 s.
    assert (cost[0]["workflows"], float(cost[0]["tokens"]), float(cost[0]["seconds"])) == ("3", 200.0, 2.0)
    assert cost[0]["money"] == ""


def test_lines_differ_by_more_than_colour(found: Workflows) -> None:
    (figure,) = [each for each in workflow_figures(found) if each.key == "workflow_validity"]
    dashes = re.findall(r"stroke-dasharray: ([^;\"]+)", draw(figure))
    # Of three lines one is whole.
    assert len(set(dashes)) >= 2


def page_of(findings: Findings, of: Any) -> str:
    figures = [] if findings.workflows is None else workflow_figures(findings.workflows)
    return build_page(of, findings, figures)


@pytest.fixture(scope="module")
def findings(found: Workflows) -> Findings:
    models = {
        name: results(name, as_tested(name)[2], SAMPLING, comparable=True, samples={"gsm8k": 4}) for name in MODELS
    }
    groups = count([Rollout(1, "a", f"a{reward}", "gsm8k", "math", reward, None, 10, True) for reward in (0.0, 1.0)])
    learning = Learning(groups, 0, {1: groups}, {"gsm8k": groups}, {"math": groups}, {1: {"math": 1}}, {}, 0, {}, {})
    changes = comparison(as_tested("base")[2], as_tested("trained")[2], SAMPLING)
    return Findings(
        Results(models, changes, b"<svg/>"), learning, {}, {"gains": [], "regressions": []}, {}, {}, workflows=found
    )


def text_of(page: str) -> str:
    shown = re.sub(r"<(style|svg)\b.*?</\1>", " ", page.replace("\u202f", ""), flags=re.DOTALL)
    plain_text = " ".join(re.sub(r"<[^>]*>", " ", shown).split())
    return plain_text.replace("\u2212", "-")


def test_the_page_has_the_section(findings: Findings) -> None:
    page = page_of(findings, experiment())
    text = text_of(page)
    assert "which tiny-chat executes. Reward workflow, from -1 to 1; what is no workflow, or fails, gets -1." in text
    assert "Valid workflows, training 75.0 % mean over prompts; 6 of 8 responses" in text
    assert "Right answers, training 37.5 % mean over prompts; 3 of 7 responses" in text
    assert re.search(r"Trained 50.0 % [\d.]+ % to [\d.]+ % 50.0 % .*? 4 of 4 2 of 4 0 800 1.0 – 1600 2.0 –", text)
    assert re.search(r"Direct answer gsm8k 4 75.0 % 50.0 % -25.0 -\S+ to \S+", text)
    assert "math 2 of 100, qa 1 of 100. Right workflows from a reward of 0.5 on are kept." in text
    assert "invalid:no_code 1 12.5 %" in text
    for key in ("validity", "reward_parts", "failures", "cost", "buffer", "models", "gains"):
        (link,) = re.findall(rf'download="workflow_{key}.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
        assert b"," in base64.b64decode(link)
    assert page.count('id="figure-workflow_') == 7
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_page_without_workflows_is_as_before(findings: Findings) -> None:
    page = page_of(dataclasses.replace(findings, workflows=None), experiment_without())
    assert 'id="workflows"' not in page
    assert "figure-workflow" not in page


def test_nothing_valid_is_told_and_nothing_is_divided_by_it(tmp_path: Path, inputs: dict[str, Path]) -> None:
    work = Work(tmp_path / "other", experiment())
    work.begin()
    work.answer(*(invalid(1, row, 0) for row in ("m1", "q1")))
    training = Path(work.publish(tmp_path / "others").removeprefix("file://"))
    (training / "buffer").mkdir()
    write_table(training / "buffer" / "buffer.parquet", [], SCHEMA)
    nothing = read_workflows(experiment(), {**inputs, "training": training}, SAMPLING)
    assert nothing is not None
    assert nothing.valid["all"].value == 0.0
    # Wilson's bound of 0 of 2.
    assert nothing.valid["all"].high == pytest.approx(3.8415 / 5.8415, abs=1e-4)
    keys = {figure.key for figure in workflow_figures(nothing)}
    assert "workflow_cost" not in keys
    assert "workflow_buffer" not in keys
    for figure in workflow_figures(nothing):
        draw(figure)


def test_the_summary_has_every_number(findings: Findings) -> None:
    summary = build_summary(experiment(), findings)["workflows"]
    assert summary["right"]["math"]["value"] == 0.75
    assert summary["models"][2]["gains"]["gsm8k"]["gain"] == -0.25
    assert summary["steps"]["1"]["tally"]["costs"]["tokens"] == 600
    assert headline(findings)["valid_workflows"] == 0.75
    assert json.dumps(plain(findings.workflows), allow_nan=False)


def test_an_answer_of_this_kind_is_what_the_tables_hold() -> None:
    assert set(workflow(Answer(1, "m1", 0, "answered"))) == set(WORKFLOWS.names)
