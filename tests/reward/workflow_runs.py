"""An experiment whose executor model is scripted, and samples of it, for tests of rewards and scores of workflows."""

import json
from typing import Any

from components.core.spec import Experiment, load_experiment
from components.judge.rubrics import read_rubric
from components.judge.verdict import Sample
from components.tasks.gold import CodeGold, MathGold, QaGold, TaskGold, to_json

SUM = MathGold("gsm8k", "42")
CAPITAL = QaGold("squad2", ("Oslo",))
DOUBLE = CodeGold(
    "humaneval",
    'def double(x):\n    """Twice x."""\n',
    "double",
    "def check(candidate):\n    assert candidate(2) == 4\n",
)
QUESTIONS = {"gsm8k": "What is 40 + 2?", "squad2": "What is the capital of Norway?", "humaneval": DOUBLE.prompt}


def executor(url: str, **changes: Any) -> str:
    """An executor model of others as the specification writes it; impatient, so that tests are quick."""
    values = {
        "name": "scripted",
        "family": "test",
        "serving": "external",
        "endpoint": url,
        "model_name": "scripted-model",
        "context_tokens": 4096,
        "max_answer_tokens": 256,
        "logprobs": False,
        "timeout_seconds": 2.0,
        "attempts": 2,
        "cache": False,
    }
    return f"workflow.executor={json.dumps({**values, **changes})}"


def experiment(url: str, *overrides: str, **changes: Any) -> Experiment:
    return load_experiment("tiny_workflow", [executor(url, **changes), *overrides])


def sample(response: str, gold: TaskGold = SUM, *, sample_id: str = "1-1-r-0", judged: str | None = None) -> Sample:
    """Of a row as prepare-data makes it; ``judged``: the reference answer of a row whose domain a judge decides."""
    task = {"name": "task", "gold": to_json(gold), "metric": "f1" if isinstance(gold, QaGold) else "exact"}
    points = 1.0 if judged is None else 0.0
    lines: list[dict[str, Any]] = [{"text": "It is right.", "points": points, "verifier": "rule", "rule": task}]
    if judged is not None:
        lines.append({"text": judged, "points": 1.0, "verifier": "llm"})
    return Sample("r", sample_id, QUESTIONS[gold.dataset], response, read_rubric(json.dumps(lines)))


def program(body: str, parameters: str = "problem") -> str:
    """A response with a program of one operator, Custom as self.custom, whose call has this body."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return (
        "```python\nclass Workflow:\n"
        "    def __init__(self, name, llm_config, dataset):\n"
        "        self.llm = create_llm(llm_config)\n"
        "        self.custom = operator.Custom(self.llm)\n\n"
        f"    async def __call__(self, {parameters}):\n{lines}\n```"
    )


ONE_CALL = program(
    'reply = await self.custom(input=problem, instruction="Solve.")\nreturn reply["response"], self.llm.cost'
)
THREE_CALLS = program(
    "for number in range(3):\n"
    '    reply = await self.custom(input=problem, instruction="Solve.")\n'
    'return reply["response"], self.llm.cost'
)
CATCHES = program(
    "try:\n"
    '    reply = await self.custom(input=problem, instruction="Solve.")\n'
    '    return reply["response"], self.llm.cost\n'
    "except Exception:\n"
    "    return 42, 0"
)
RAISES = program(
    'reply = await self.custom(input=problem, instruction="Solve.")\n'
    'number = 1 / (len(reply["response"]) - len(reply["response"]))\n'
    "return number, 0"
)
