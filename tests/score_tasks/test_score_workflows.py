"""The step score-tasks on workflows with a scripted executor model: what is right, wrong, invalid, failed and unknown;
a killed step goes on; and an executor that is down ends it with words that name it."""

import asyncio
import concurrent.futures
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_executor import Model, Reply
from workflow_runs import CAPITAL, DOUBLE, ONE_CALL, QUESTIONS, RAISES, SUM, experiment

from components.core.contracts import CALLS, GENERATIONS, PROMPTS, TASK_SCORES, WORKFLOWS, read_table, write_table
from components.core.errors import JudgeError, StepError
from components.core.progress import Progress
from components.core.spec import Experiment
from components.core.step import StepContext
from components.generate_tasks.baselines import BASELINES, baseline_rows
from components.score_tasks import step
from components.tasks.gold import QaGold, TaskGold, to_json
from components.workflow.contract.outcome import Plan
from components.workflow.contract.validate import validate
from components.workflow.service import SIGNATURES

UNANSWERABLE = QaGold("squad2", ())
TASKS: dict[str, tuple[TaskGold, str]] = {
    "m": (SUM, "math"),
    "q": (CAPITAL, "qa"),
    "u": (UNANSWERABLE, "qa"),
    "c": (DOUBLE, "code"),
}
FEW = ["evaluation.bootstrap_samples=100", "evaluation.tasks.limit=null"]
FAILING = ONE_CALL.replace("Solve.", "Fail.")


def test_row(name: str) -> dict[str, Any]:
    gold, domain = TASKS[name]
    question = QUESTIONS[gold.dataset] if name != "u" else "Who is the king of Switzerland?"
    info = {"id": name, "index": 0, "split": "test", "question": question, "rubric": "[]", "template": gold.dataset}
    return {
        "prompt": [{"role": "user", "content": f"Write a workflow. {question}"}],
        "data_source": gold.dataset,
        "ability": domain,
        "reward_model": {"style": "task", "ground_truth": to_json(gold)},
        "extra_info": info,
    }


test_row.__test__ = False  # type: ignore[attr-defined]


def answer(model: str, name: str, *responses: str) -> dict[str, Any]:
    row, number = test_row(name), len(responses)
    return {
        "model": model,
        "row_id": name,
        "split": "test",
        "question": row["extra_info"]["question"],
        "responses": list(responses),
        "finished": [True] * number,
        "response_tokens": [5] * number,
    }


def said(prompt: str) -> Reply:
    """A model that knows three answers, and none to what has none."""
    if "Fail." in prompt:
        return 503, {"error": "overloaded"}
    if "40 + 2" in prompt:
        return "\\boxed{42}"
    if "Norway" in prompt:
        return "Oslo"
    return "```python\ndef double(x):\n    return x + x\n```" if "double" in prompt else "no answer"


@contextlib.contextmanager
def served(model: Model) -> Iterator[str]:
    """In a thread of its own, since the step has an event loop of its own."""
    loop, over, urls = asyncio.new_event_loop(), asyncio.Event(), concurrent.futures.Future[str]()

    async def serve() -> None:
        async with model.serve() as url:
            urls.set_result(url)
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    try:
        yield urls.result(30)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()


@pytest.fixture
def context(tmp_path: Path) -> Callable[[Experiment, list[dict[str, Any]]], StepContext]:
    (tmp_path / "data" / "tests").mkdir(parents=True)
    (tmp_path / "generations").mkdir()
    for dataset in ("gsm8k", "squad2", "humaneval"):
        rows = [test_row(name) for name, (gold, _) in TASKS.items() if gold.dataset == dataset]
        write_table(tmp_path / "data" / "tests" / f"{dataset}.parquet", rows, PROMPTS)

    def make(made: Experiment, answers: list[dict[str, Any]]) -> StepContext:
        write_table(tmp_path / "generations" / "generations.parquet", answers, GENERATIONS)
        number = len(list(tmp_path.glob("out*")))
        out, work = tmp_path / f"out{number}", tmp_path / "work"
        out.mkdir()
        work.mkdir(exist_ok=True)
        inputs = {"data": tmp_path / "data", "generations": tmp_path / "generations"}
        return StepContext(made, inputs, {}, out, work, "i", Progress("score-tasks"), tmp_path / "state")

    return make


def scores(context: StepContext) -> dict[tuple[str, str], dict[str, Any]]:
    rows = read_table(context.out / "scores.parquet", TASK_SCORES).to_pylist()
    return {(row["model"], row["row_id"]): row for row in rows}


def workflows(context: StepContext) -> dict[tuple[str, str], dict[str, Any]]:
    rows = read_table(context.out / "workflows.parquet", WORKFLOWS).to_pylist()
    return {(row["model"], row["row_id"]): row for row in rows}


@pytest.mark.slow
def test_workflows_are_executed_and_their_answers_scored(context) -> None:
    base = [
        answer("base", "m", ONE_CALL),
        answer("base", "q", "Oslo"),
        answer("base", "u", RAISES.replace("Solve.", "Think.")),
    ]
    trained = [answer("trained", name, ONE_CALL) for name in ("m", "q", "u")]
    code = [answer("base", "c", "def double(x): return 2 * x"), answer("trained", "c", ONE_CALL)]
    model = Model(by=said)
    with served(model) as url:
        made = context(experiment(url, *FEW), [*base, *trained, *code])
        metadata = step.run(made)
        asked = len(model.prompts)
        # What is known is not executed again by a step that was killed after this.
        again = context(made.experiment, [*base, *trained, *code])
        assert step.run(again) == metadata
        assert len(model.prompts) == asked
    found = scores(made)
    assert {key: row["correct"] for key, row in found.items()} == {
        ("base", "m"): True,
        # The policy that answers by itself has written no workflow.
        ("base", "q"): False,
        # Nor is a workflow that fails right about a question which has no answer.
        ("base", "u"): False,
        ("base", "c"): False,
        ("trained", "m"): True,
        ("trained", "q"): True,
        ("trained", "u"): True,
        ("trained", "c"): True,
    }
    assert found["base", "q"]["detail"].startswith("invalid:no_code")
    assert (found["base", "u"]["exact"], found["base", "u"]["f1"]) == (0.0, 0.0)
    assert found["base", "u"]["detail"].startswith("failed:exception")
    assert scores(again) == found
    table = workflows(made)
    assert {key: row["status"] for key, row in table.items() if key[0] == "base"} == {
        ("base", "m"): "answered",
        ("base", "q"): "invalid",
        ("base", "u"): "failed",
        ("base", "c"): "invalid",
    }
    assert table["trained", "m"]["reward"] == pytest.approx(0.95)
    assert table["trained", "m"]["tokens"] == 110
    # Equal workflows of two models on one problem were executed once.
    assert asked == 5
    assert read_table(made.out / "calls.parquet", CALLS).num_rows == asked
    assert (metadata["gsm8k"], metadata["base_squad2"], metadata["squad2"]) == (1.0, 0.0, 1.0)
    assert json.loads((made.out / "comparisons.json").read_text()).keys() == {"base"}


@pytest.mark.slow
def test_what_abstained_is_unknown_and_tried_again(context) -> None:
    answers = [answer("trained", "m", ONE_CALL), answer("trained", "q", FAILING)]
    answers += [answer("trained", "u", "x"), answer("trained", "c", "x")]
    with served(Model(by=said)) as url:
        made = context(experiment(url, *FEW, "reward.max_abstain_rate=0.3"), answers)
        with pytest.raises(StepError, match="the checks of 1 of 4 answers failed by themselves"):
            step.run(made)
    unknown = scores(made)["trained", "q"]
    assert (unknown["correct"], unknown["exact"], unknown["f1"]) == (None, None, None)
    assert unknown["detail"].startswith("abstained: judge_down")
    # Once the executor is well, this one alone is executed.
    well = Model("Oslo")
    with served(well) as url:
        mended = context(experiment(url, *FEW, "reward.max_abstain_rate=0.3"), answers)
        step.run(mended)
    assert scores(mended)["trained", "q"]["correct"] is True
    assert len(well.prompts) == 1


def test_an_executor_that_is_down_ends_the_step_by_its_name(context) -> None:
    made = context(experiment("http://127.0.0.1:9", *FEW), [answer("trained", name, ONE_CALL) for name in TASKS])
    with pytest.raises(StepError, match=r"executor scripted failed for 1 \(judge_down 1\)") as caught:
        step.run(made)
    assert "bring it up again" in caught.value.remedy
    assert not (made.out / "scores.parquet").exists()


def test_a_budget_that_is_used_up_ends_it_too(context) -> None:
    with served(Model(by=said)) as url:
        made = context(
            experiment(url, *FEW, budget={"calls": 1}), [answer("trained", name, ONE_CALL) for name in TASKS]
        )
        with pytest.raises(JudgeError, match="budget") as caught:
            step.run(made)
    assert caught.value.where == "budget of workflow.executor"


def test_baselines_are_valid_workflows_of_their_own_models() -> None:
    rows = [test_row(name) for name in TASKS]
    found = baseline_rows(rows, {"math": 1, "qa": 1, "code": 2}, seed=4, calls=20)
    assert [row["model"] for row in found] == [name for name in BASELINES for _ in TASKS]
    for row in found:
        assert len(row["responses"]) == (2 if row["row_id"] == "c" else 1)
        assert all(isinstance(validate(text, SIGNATURES), Plan) for text in row["responses"])
    random = [row["responses"] for row in found if row["model"] == "random_valid"]
    assert len({text for texts in random for text in texts}) == 5
    assert found == baseline_rows(rows, {"math": 1, "qa": 1, "code": 2}, seed=4, calls=20)
