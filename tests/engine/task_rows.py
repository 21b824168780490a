"""Tables of tasks for tests."""

import json
from collections.abc import Sequence, Set
from pathlib import Path

from components.core.contracts import PROMPTS, write_table

RUBRIC = json.dumps(
    [
        {
            "text": "The answer is short.",
            "points": 1.0,
            "verifier": "rule",
            "rule": {"name": "word_count_range", "min_count": 1, "max_count": 4},
        }
    ]
)


def write_rows(path: Path, sources: Sequence[str], long: Set[int] = frozenset()) -> None:
    """A training table with one row a name; those in ``long`` have prompts of thousands of tokens."""
    rows = [
        {
            "prompt": [{"role": "user", "content": f"Question {number}?" * (2000 if number in long else 1)}],
            "data_source": name,
            "ability": "any",
            "reward_model": {"style": "task", "ground_truth": "{}"},
            "extra_info": {
                "id": f"{name}-{number}",
                "index": number,
                "split": "train",
                "question": f"Question {number}?",
                "rubric": RUBRIC,
                "template": name,
            },
        }
        for number, name in enumerate(sources)
    ]
    write_table(path, rows, PROMPTS)
