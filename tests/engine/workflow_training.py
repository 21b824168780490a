"""Trains a tiny policy to write workflows, as the pipeline does: ``python workflow_training.py URL`` with GAVEL_STATE
set, URL being that of the executor model."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "reward"))
from workflow_policy import write_policy
from workflow_runs import ONE_CALL, RAISES, executor

from components.core.contracts import PROMPTS, write_table
from components.core.manifest import Scalar
from components.core.spec import Experiment, load_experiment
from components.core.step import Step, StepContext
from components.core.step.execute import perform
from components.tasks.gold import MathGold, to_json
from components.train.step import STEP
from components.workflow.prompts.layer1 import policy_prompt
from components.workflow.types import Problem

STEPS, ROWS = 2, 4
TEXTS = (ONE_CALL, RAISES, ONE_CALL.replace("Solve.", "Err."), ONE_CALL.replace("await ", ""))
"""Right, failing, wrong and invalid with the executor of the test."""


def question(number: int) -> str:
    return f"Ada has {number} apples and finds {number} more. How many apples does Ada have?"


def row(number: int) -> dict[str, Any]:
    gold = MathGold("gsm8k", str(2 * number))
    task = {"name": "task", "gold": to_json(gold), "metric": "exact"}
    rubric = [{"text": "The final answer is right.", "points": 1.0, "verifier": "rule", "rule": task}]
    text = question(number)
    prompt = policy_prompt(Problem("math", "gsm8k", text, None, None))
    info = {"id": f"r{number}", "index": number, "split": "train", "question": text, "template": "gsm8k"}
    return {
        # The end of the usual prompt, with the place for examples, is enough for who knows its answers by heart.
        "prompt": [{"role": "user", "content": prompt[prompt.index("# Examples") :]}],
        "data_source": "gsm8k",
        "ability": "math",
        "reward_model": {"style": "task", "ground_truth": to_json(gold)},
        "extra_info": {**info, "rubric": json.dumps(rubric)},
    }


def prepare(context: StepContext) -> Mapping[str, Scalar]:
    write_table(context.out / "train.parquet", [row(number) for number in range(ROWS)], PROMPTS)
    draw = {
        "weights": {"math": 4, "qa": 3, "code": 3},
        "within": "equal",
        "repeat_cap": 8,
        "sets": {"gsm8k": {"domain": "math"}},
    }
    (context.out / "draw.json").write_text(json.dumps(draw))
    return {"train_rows": ROWS}


def depends(experiment: Experiment) -> object:
    return experiment.data_identity()


def main(url: str) -> int:
    state = Path(os.environ["GAVEL_STATE"])
    folder = state / "policy"
    if not folder.exists():
        write_policy(folder, [row(number)["prompt"][0]["content"] for number in range(ROWS)], TEXTS)
    source = {"kind": "folder", "path": str(folder), "sha256": "0" * 64}
    experiment = load_experiment(
        "tiny_workflow",
        [
            executor(url),
            f"policy.source={json.dumps(source)}",
            f"training.steps={STEPS}",
            "training.rollouts_per_prompt=6",
            "training.max_prompt_tokens=512",
            "workflow.example_tokens=1024",
            "training.max_response_tokens=8",
            "training.checkpoint_every=1",
        ],
    )
    store = (state / "store").as_uri()
    data = perform(Step("prepare-data", "components.data.step", depends, prepare), experiment, store, {})
    print(f"published {perform(STEP, experiment, store, {'data': data.uri}).uri}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
