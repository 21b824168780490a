"""A table of training prompts by hand."""

import json
from collections.abc import Mapping
from pathlib import Path

from components.core.contracts import PROMPTS, write_table


def write_prompts(path: Path, rubrics: Mapping[str, list[dict[str, object]]]) -> Path:
    """One row a rubric, under its name; all ask the same question."""
    rows = [
        {
            "prompt": [{"role": "user", "content": "Write."}],
            "data_source": "d",
            "ability": "a",
            "reward_model": {"style": "rubric", "ground_truth": "{}"},
            "extra_info": {
                "id": name,
                "index": index,
                "split": "train",
                "question": "Write.",
                "rubric": json.dumps(lines),
                "template": "t",
            },
        }
        for index, (name, lines) in enumerate(rubrics.items())
    ]
    write_table(path, rows, PROMPTS)
    return path
