"""Tables of tasks for tests."""

from collections.abc import Sequence
from pathlib import Path

from components.core.contracts import PROMPTS, write_table


def write_rows(path: Path, sources: Sequence[str]) -> None:
    """A training table with one row a name."""
    rows = [
        {
            "prompt": [{"role": "user", "content": f"Question {number}?"}],
            "data_source": name,
            "ability": "any",
            "reward_model": {"style": "task", "ground_truth": "{}"},
            "extra_info": {
                "id": f"{name}-{number}",
                "index": number,
                "split": "train",
                "question": f"Question {number}?",
                "rubric": "[]",
                "template": name,
            },
        }
        for number, name in enumerate(sources)
    ]
    write_table(path, rows, PROMPTS)
