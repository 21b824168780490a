"""The hand-written templates on twenty problems of GSM8K and twenty of HumanEval, over a scripted model and real HTTP.

The model is right about every other problem, so that exactly these are scored as right. The problems are the tree's own
in the sets' forms; and the sets' own, where they lie beside the checkout or where GAVEL_TEST_DATA says.
"""

import asyncio
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from scripted_executor import PLENTY, Model, executor
from workflow_signatures import SIGNATURES, fenced, template

from components.tasks.gold import CodeGold, MathGold
from components.tasks.score import TaskScorer
from components.workflow.broker.broker import Broker
from components.workflow.contract.outcome import Plan
from components.workflow.contract.validate import validate
from components.workflow.ladders import load_workflow_reward
from components.workflow.operators import REGISTRY
from components.workflow.prompts.problems import problem
from components.workflow.reward import Attempt, workflow_reward
from components.workflow.run.executor import Executor
from components.workflow.signatures import signature
from components.workflow.types import Problem

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "configs" / "datasets" / "mixed-small"
REAL = Path(os.environ.get("GAVEL_TEST_DATA") or ROOT.parent / "shared" / "data")
NUMBER = 20


def rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        pytest.skip(f"{path.name} is not in {path.parent.name}: set GAVEL_TEST_DATA to the folder that holds it")
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.splitlines()[:NUMBER]]


def chosen(prompt: str) -> str | None:
    """What the model says to an ensemble."""
    return "<thought>They agree.</thought>\n<letter>A</letter>" if "<letter>" in prompt else None


async def run_all(domain: str, problems: list[Problem], golds: list[Any], model: Model) -> list[Any]:
    """Executions, scores and rewards of the domain's template."""
    response = fenced(template(domain))
    plan = validate(response, SIGNATURES)
    assert isinstance(plan, Plan)
    spec, scorer = load_workflow_reward("workflow"), TaskScorer(concurrency=1)
    async with model.serve() as url, executor(url) as made:
        one = Executor(lambda problem, budget: Broker(made, budget, problem), SIGNATURES, concurrency=2)
        found = await asyncio.gather(*(one.run(plan, problem, PLENTY) for problem in problems))
        scores = await asyncio.gather(
            *(scorer.score(gold, each.answer or "") for gold, each in zip(golds, found, strict=True))
        )
        await one.close()
    await scorer.close()
    rewards = [
        workflow_reward(spec, Attempt(domain, response, each, plan.form, float(score.correct)))
        for each, score in zip(found, scores, strict=True)
        if score.correct is not None
    ]
    assert len(rewards) == len(problems)
    return [found, rewards]


def test_signatures_by_hand_are_those_of_the_operators() -> None:
    assert {name: signature(name, each.inputs, each.outputs) for name, each in REGISTRY.items()} == SIGNATURES


@pytest.mark.slow
@pytest.mark.parametrize("path", [OWN / "gsm8k_train.jsonl", REAL / "gsm8k_test.jsonl"], ids=["own", "real"])
async def test_mathematics(path: Path) -> None:
    found = rows(path)
    numbers = [row["answer"].rpartition("####")[2].strip().replace(",", "") for row in found]
    told = {
        row["question"]: int(number) + place % 2 for place, (row, number) in enumerate(zip(found, numbers, strict=True))
    }

    def by(prompt: str) -> str:
        if (choice := chosen(prompt)) is not None:
            return choice
        number = next(number for question, number in told.items() if question in prompt)
        return f"```python\ndef solve():\n    return {number}\n```" if "solve()" in prompt else f"\\boxed{{{number}}}"

    problems = [Problem("math", "gsm8k", row["question"], None, None) for row in found]
    golds = [MathGold("gsm8k", number) for number in numbers]
    executions, rewards = await run_all("math", problems, golds, Model(by=by))
    assert [each.right for each in rewards] == [place % 2 == 0 for place in range(NUMBER)]
    for each, reward in zip(executions, rewards, strict=True):
        assert [call.operator for call in each.trace] == ["Custom"] * 3 + ["Programmer", "ScEnsemble"]
        assert each.trace[3].outputs["output"] in each.trace[4].arguments["solutions"][3]
        # Five replies of 110 tokens each, as the scripted model counts them.
        assert each.cost.tokens == 550
        assert 0.38 <= reward.value <= 0.95 if reward.right else -0.425 <= reward.value <= -0.275


@pytest.mark.slow
@pytest.mark.parametrize("path", [OWN / "humaneval.jsonl", REAL / "HumanEval.jsonl.gz"], ids=["own", "real"])
async def test_code(path: Path) -> None:
    found = rows(path)
    names = {row["entry_point"]: row for row in found}

    def by(prompt: str) -> str:
        if (choice := chosen(prompt)) is not None:
            return choice
        name = next((each for each in names if f"function named {each}." in prompt), None)
        if name is None:
            return "One loop will do."
        row = names[name]
        right = found.index(row) % 2 == 0
        body = row["prompt"] + row["canonical_solution"] if right else f"def {name}(*given):\n    raise ValueError\n"
        return f"```python\n{body}\n```"

    golds = [CodeGold("humaneval", row["prompt"], row["entry_point"], row["test"]) for row in found]
    problems = [problem(gold.prompt, gold) for gold in golds]
    executions, rewards = await run_all("code", problems, golds, Model(by=by))
    assert [each.right for each in rewards] == [place % 2 == 0 for place in range(NUMBER)]
    for place, each in enumerate(executions):
        assert [call.operator for call in each.trace] == ["Custom"] + ["CustomCodeGenerate"] * 3 + [
            "ScEnsemble",
            "Test",
        ]
        # All of these show examples in their docstrings, on which the wrong programs fail, and three rewritten ones.
        right = place % 2 == 0
        assert each.trace[-1].outputs["result"] is right
        assert each.trace[-1].cost.calls == (0 if right else 3)
        assert each.trace[-1].arguments["solution"] == each.trace[-2].outputs["response"]
