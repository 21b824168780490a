"""Trains the tiny model on a mixture, as the pipeline does: ``python mixture_training.py`` with GAVEL_STATE set."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from task_rows import write_rows

from components.core.manifest import Scalar
from components.core.spec import Experiment, load_experiment
from components.core.step import Step, StepContext
from components.core.step.execute import perform
from components.train.step import STEP

DOMAINS = {"gsm8k": "math", "math": "math", "squad2": "qa", "hotpotqa": "qa", "mbpp": "code"}
ROWS = {"gsm8k": 2, "math": 9, "squad2": 6, "hotpotqa": 7, "mbpp": 8}
SOURCES = [name for name, count in ROWS.items() for _ in range(count)]
DRAW = {
    "weights": {"math": 4, "qa": 3, "code": 3},
    "within": "equal",
    "repeat_cap": 2,
    "sets": {name: {"domain": domain} for name, domain in DOMAINS.items()},
}
STEPS = 10
_S3 = "{path: 's3://bucket/rows.jsonl'}"
_FILES = ", ".join(f"{name}: {{{'all' if name == 'mbpp' else 'train'}: [{_S3}]}}" for name in DOMAINS)
OVERRIDES = [
    f"data={{name: mixed, kind: mixture, heldout_rows: 1, mixture: {{repeat_cap: 2, sources: {{{_FILES}}}}}}}",
    "reward=rule-only",
    "seed=7",
    f"training.steps={STEPS}",
    "training.prompts_per_step=4",
    "training.mini_batch_prompts=4",
    "training.rollouts_per_prompt=2",
    "training.micro_batch=4",
    "training.max_response_tokens=6",
    "training.checkpoint_every=2",
]


def prepare(context: StepContext) -> Mapping[str, Scalar]:
    # The last row's prompt is too long for the policy.
    write_rows(context.out / "train.parquet", [*SOURCES, "mbpp"], long={len(SOURCES)})
    (context.out / "draw.json").write_text(json.dumps(DRAW))
    return {"train_rows": len(SOURCES)}


def depends(experiment: Experiment) -> object:
    return experiment.data_identity()


def main() -> int:
    experiment = load_experiment("tiny", OVERRIDES)
    store = (Path(os.environ["GAVEL_STATE"]) / "store").as_uri()
    data = perform(Step("prepare-data", "components.data.step", depends, prepare), experiment, store, {})
    print(f"published {perform(STEP, experiment, store, {'data': data.uri}).uri}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
