"""IFEval's prompts are answered by the models that were asked, and what was published can be scored as it is."""

import json
from pathlib import Path

import pytest

from components.core.contracts import GENERATIONS, read_table
from components.core.errors import ContractError, StepError
from components.core.progress import Progress
from components.core.spec import load_experiment
from components.core.step import StepContext
from components.generate_ifeval import step as module
from components.generate_ifeval.prompts import prompt_rows, response_lines, take_lines
from components.generate_ifeval.step import STEP
from components.ifeval.step import STEP as SCORE

PROMPTS = Path(__file__).resolve().parents[1] / "score" / "ifeval" / "prompts.jsonl"
SETTINGS = ("cluster.cpu_threads=1", "evaluation.batch=4")


@pytest.fixture
def place(tmp_path, cache, other_model, monkeypatch):
    """A run of the step: ``place(name, **fields)`` with fields of evaluation.ifeval."""
    monkeypatch.setenv("GAVEL_CACHE", str(cache))
    (tmp_path / "trained").mkdir()
    (tmp_path / "trained" / "model").symlink_to(other_model)

    def make(name: str, **fields: object) -> StepContext:
        given = {"path": str(PROMPTS), "limit": 6, "max_response_tokens": 5, **fields}
        experiment = load_experiment("tiny", [*SETTINGS, f"evaluation.ifeval={json.dumps(given)}"])
        out, work = tmp_path / name / "out", tmp_path / name / "work"
        for path in (out, work):
            path.mkdir(parents=True)
        inputs = {"model": tmp_path / "trained"}
        return StepContext(experiment, inputs, {}, out, work, "id", Progress("x"), state=tmp_path / "state")

    return make


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_trained_policy_answers_the_first_prompts(place):
    run = place("a")
    returned = STEP.run(run)
    official = lines(PROMPTS)[:6]
    assert lines(run.out / "prompts.jsonl") == official
    rows = lines(run.out / "responses_trained.jsonl")
    assert [(row["key"], row["prompt"]) for row in rows] == [(row["key"], row["prompt"]) for row in official]
    assert all(isinstance(row["response"], str) for row in rows)
    assert not (run.out / "responses_base.jsonl").exists()
    table = read_table(run.out / "generations.parquet", GENERATIONS).to_pylist()
    assert {row["split"] for row in table} == {"ifeval"}
    assert returned["prompts"] == 6
    assert 1 <= returned["trained_tokens"] <= 5


def test_both_answer_when_asked_and_are_scored_by_name(place, tmp_path):
    run = place("a", base=True, temperature=1.0, samples=2)
    STEP.run(run)
    rows = {name: lines(run.out / f"responses_{name}.jsonl") for name in ("base", "trained")}
    assert all(len(row["response"]) == 2 for found in rows.values() for row in found)
    assert rows["base"] != rows["trained"]
    out, work = tmp_path / "scored", tmp_path / "w"
    for path in (out, work):
        path.mkdir()
    context = StepContext(run.experiment, {"generations": run.out}, {}, out, work, "id", Progress("ifeval"), tmp_path)
    returned = SCORE.run(context)
    assert set(returned) == {
        f"{prefix}{name}" for prefix in ("", "base_") for name in ("Pr_S", "Ins_S", "Pr_L", "Ins_L")
    }
    for model in ("base", "trained"):
        strict = lines(out / model / "eval_results_strict.jsonl")
        assert len(strict) == 12
        followed = [row["follow_all_instructions"] for row in strict]
        summary = json.loads((out / model / "summary.json").read_text())
        assert summary["Pr_S"] == pytest.approx(sum(followed) / 12)
        assert len(lines(out / model / "eval_results_loose.jsonl")) == 12


def test_a_killed_run_goes_on_where_it_was(place, monkeypatch):
    whole = place("whole")
    STEP.run(whole)
    run = place("killed")
    opened = module.open_generator

    class Failing:
        def __init__(self, experiment, folder):
            self.generator, self.calls = opened(experiment, folder), 0

        def generate(self, prompts, sampling):
            self.calls += 1
            if self.calls == 2:
                raise KeyboardInterrupt
            return self.generator.generate(prompts, sampling)

        def close(self):
            pass

    monkeypatch.setattr(module, "open_generator", Failing)
    with pytest.raises(KeyboardInterrupt):
        STEP.run(run)
    assert len(lines(run.work / "trained.jsonl")) == 4
    STEP.run(run)
    assert (run.out / "responses_trained.jsonl").read_bytes() == (whole.out / "responses_trained.jsonl").read_bytes()


def test_without_ifeval_the_step_refuses(place):
    run = place("a")
    plain = load_experiment("tiny")
    context = StepContext(plain, run.inputs, {}, run.out, run.work, "id", Progress("x"), state=run.state)
    with pytest.raises(StepError, match="asks for no IFEval"):
        STEP.run(context)


def test_the_overlay_answers_nothing_anew(place):
    plain, overlaid = place("a").experiment, place("b", overlay=True).experiment
    assert STEP.depends(plain) == STEP.depends(overlaid)
    assert SCORE.depends(plain) != SCORE.depends(overlaid)
    assert STEP.depends(plain) != STEP.depends(place("c", max_response_tokens=6).experiment)


def test_a_file_without_limit_is_published_byte_by_byte():
    content = b'{"key": 1, "prompt": "a"}\r\n\n{"key": 2, "prompt": "b"}'
    assert take_lines(content, None, "f") == content
    assert take_lines(content, 1, "f") == b'{"key": 1, "prompt": "a"}\r\n'
    with pytest.raises(ContractError, match="2 prompts are there, fewer than the 3"):
        take_lines(content, 3, "f")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"key": 1, "prompt": "a"}\n{"key": 1, "prompt": "b"}', "stands in an earlier line"),
        (b'{"key": 1, "prompt": "a"}\n{"key": 2, "prompt": "a"}', "its prompt stands in an earlier line"),
        (b'{"prompt": "a"}', "line has no key"),
        (b'{"key": 1}', "line has no prompt"),
        (b'{"key": ' + b"[" * 100_000, "nested too deep"),
        (b'{"key": 1, "prompt": "half \\ud800"}', "which is no character"),
        (b'{"key": true, "prompt": "a"}', "not what it should be"),
        (b"[1]", "not a JSON object"),
        (b"\xff", "not JSON"),
        (b"\n", "no prompt"),
    ],
)
def test_a_bad_line_is_named(content: bytes, words: str):
    with pytest.raises(ContractError, match=words) as caught:
        prompt_rows(content, system_prompt=None, where="file")
    assert caught.value.where.startswith("file")


def test_a_byte_order_mark_is_passed_over():
    (row,) = prompt_rows(b'\xef\xbb\xbf{"key": 1, "prompt": "a"}\n', system_prompt=None, where="f")
    assert row["extra_info"]["id"] == "1"


def test_the_system_prompt_goes_before():
    (row,) = prompt_rows(b'{"key": "x", "prompt": "a"}', system_prompt="Be brief.", where="f")
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["extra_info"]["question"] == "a"
    answered = {"row_id": row["extra_info"]["id"], "question": "a", "responses": ["ü\u2028"]}
    assert json.loads(response_lines([answered])) == {"key": "x", "prompt": "a", "response": "ü\u2028"}
