"""What a preparation says aloud: sets that lost all their rows, rows that the cap did not allow, and nulls."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from components.core.errors import ContractError
from components.core.progress import Progress
from components.core.spec import load_experiment
from components.core.step.execute import perform
from components.data.mixture.prepare import prepare_mixture
from components.data.step import STEP


def _prepare(folder: Path, sources: dict, **settings: object) -> str:
    """The notes among what is printed."""
    data = {"name": "mine", "kind": "mixture", "heldout_rows": 5, "mixture": {"sources": sources, **settings}}
    printed = io.StringIO()
    out = folder / "out"
    out.mkdir()
    experiment = load_experiment("tiny", (f"data={json.dumps(data)}", "reward=rule-only"))
    prepare_mixture(experiment, out, folder / "work", Progress("prepare-data", stream=printed))
    return "\n".join(line for line in printed.getvalue().splitlines() if "note:" in line)


def _lines(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def _own(path: Path, number: int) -> str:
    return _lines(path, [{"problem": f"What is {n} + {n}?", "answer": 2 * n, "type": "math"} for n in range(number)])


MATH_ALONE = {"math": 1, "qa": 0, "code": 0}


def test_a_set_whose_training_part_is_its_test_part_is_told(tmp_path: Path) -> None:
    same = _lines(tmp_path / "g.jsonl", [{"question": f"Count {n} sheep.", "answer": f"#### {n}"} for n in range(9)])
    sources = {
        "gsm8k": {"train": [{"path": same}], "test": [{"path": same}]},
        "custom": {"train": [{"path": _own(tmp_path / "own.jsonl", 40)}]},
    }
    notes = _prepare(tmp_path, sources, weights=MATH_ALONE, validation_share=0.2)
    assert "no row of gsm8k's training part is trained on" in notes
    assert "custom" not in notes


def test_notes_are_in_the_card_in_info_and_in_what_the_step_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    sources = {"custom": {"train": [{"path": _own(tmp_path / "own.jsonl", 40)}]}}
    settings = {"weights": MATH_ALONE, "validation_share": 0.2, "draw": "materialised", "repeat_cap": 1}
    data = {"name": "mine", "kind": "mixture", "heldout_rows": 5}
    mixture = {"sources": sources, "total_rows": 100, **settings}
    experiment = load_experiment("tiny", (f"data={json.dumps({**data, 'mixture': mixture})}", "reward=rule-only"))
    store, texts = (tmp_path / "store").as_uri(), []
    for _ in range(2):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            found = perform(STEP, experiment, store, {})
        texts.append(printed.getvalue())
    folder = Path(found.uri.removeprefix("file://"))
    (note,) = json.loads((folder / "info.json").read_text())["notes"]
    assert note.endswith("rows are written, not 100: no row may come more than 1 times")
    assert found.reused
    assert found.metadata["notes"] == f"note: {note}"
    # The second run does nothing but say so, and says this, too.
    assert all(f"note: {note}" in text for text in texts)
    assert note in (folder / "data_card.html").read_text()


def test_rows_that_the_cap_forbids_are_told(tmp_path: Path) -> None:
    sources = {"custom": {"train": [{"path": _own(tmp_path / "own.jsonl", 40)}]}}
    settings = {"weights": MATH_ALONE, "validation_share": 0.2, "draw": "materialised", "repeat_cap": 2}
    notes = _prepare(tmp_path, sources, total_rows=100, **settings)
    assert "rows are written, not 100: no row may come more than 2 times" in notes


def test_nothing_is_noted_where_all_is_well(tmp_path: Path) -> None:
    sources = {"custom": {"train": [{"path": _own(tmp_path / "own.jsonl", 40)}]}}
    settings = {"weights": MATH_ALONE, "validation_share": 0.2, "draw": "materialised", "repeat_cap": 4}
    assert _prepare(tmp_path, sources, total_rows=20, **settings) == ""


def test_a_null_is_called_null(tmp_path: Path) -> None:
    path = _lines(tmp_path / "g.jsonl", [{"question": None, "answer": "#### 1"}])
    with pytest.raises(ContractError, match="'question' is null"):
        _prepare(tmp_path, {"gsm8k": {"train": [{"path": path}]}}, weights=MATH_ALONE)
