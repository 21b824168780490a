"""Tables of responses that would give wrong scores are refused before anything is judged."""

from pathlib import Path

import pytest
from scripted_judge import ScriptedJudge
from test_rescore import command
from test_score_step import CAT, PLAIN, Case

from components.core.contracts import GENERATIONS, read_table, write_table
from components.core.errors import ContractError
from components.score.responses import heldout_responses, read_prompts, training_responses


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    return Case(tmp_path)


def rewrite(case: Case, change) -> Path:
    """The generations of both models, each row as ``change(place, row)`` leaves it."""
    path = case.inputs["generations"] / "generations.parquet"
    rows = read_table(path, GENERATIONS).to_pylist()
    for place, row in enumerate(rows):
        change(place, row)
    write_table(path, rows, GENERATIONS)
    return path


def repeat(row: dict, times: int) -> None:
    for key in ("responses", "finished", "response_tokens"):
        row[key] = row[key] * times


@pytest.mark.parametrize("step", [1, 2])
def test_two_rollouts_of_one_sample_id_are_no_sample_each(case: Case, step: int, tmp_path: Path, capsys) -> None:
    # The judge likes the first and not the second: whichever verdict is kept is wrong for the other.
    case.write_rollouts([case.rollout(response=CAT), case.rollout(step=step, sample_index=1, response=PLAIN)])
    judge = ScriptedJudge()
    with judge.serve() as url:
        assert command(case, url, tmp_path / "out", what="rollouts") == 1
    error = capsys.readouterr().err
    assert "1 sample ids are there more than once, the first is '1-1-a-0'" in error
    assert "rollouts.parquet" in error
    assert judge.calls == 0
    assert not (tmp_path / "out" / "scores.parquet").exists()


def test_an_attempt_that_was_repeated_may_have_used_the_name(case: Case) -> None:
    case.write_rollouts([case.rollout(), case.rollout(attempt=2, response=PLAIN)])
    prompts = read_prompts(case.inputs["data"] / "train.parquet")
    found = training_responses(case.inputs["training"] / "rollouts.parquet", prompts)
    assert [response.sample.response for response, _, _ in found] == [PLAIN]


def test_two_models_whose_names_run_into_row_ids_are_told_apart_or_refused(case: Case) -> None:
    prompts = read_prompts(case.inputs["data"] / "heldout.parquet")
    one, two = list(prompts)[:2]
    # Model "base", row "x-y" and model "base-x", row "y" have one name.
    named = {"y": prompts[one], "x-y": prompts[two]}
    rows = [
        {
            "model": model,
            "row_id": row_id,
            "split": "heldout",
            "question": named[row_id].question,
            "responses": [CAT],
            "finished": [True],
            "response_tokens": [8],
        }
        for model in ("base", "base-x")
        for row_id in named
    ]
    path = case.inputs["generations"] / "generations.parquet"
    write_table(path, rows, GENERATIONS)
    with pytest.raises(ContractError, match="the first is 'base-x-y-0'"):
        heldout_responses(path, named)


def test_nothing_to_score_is_no_result(case: Case, tmp_path: Path, capsys) -> None:
    rewrite(case, lambda place, row: repeat(row, 0))
    assert command(case, "http://127.0.0.1:9", tmp_path / "out") == 1
    assert "there is no response" in capsys.readouterr().err
    assert not (tmp_path / "out" / "scores.parquet").exists()
    case.write_rollouts([])
    assert command(case, "http://127.0.0.1:9", tmp_path / "out", what="rollouts") == 1
    assert "there is no response" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "change", "what"),
    [
        (3, lambda row: repeat(row, 3), "3 responses, and 1 to the first prompt"),
        (12, lambda row: repeat(row, 2), "2 responses, and 1 to the first prompt"),
        (4, lambda row: repeat(row, 0), "there is no response"),
        (5, lambda row: row.update(finished=[]), "1 responses, 0 finished, 1 response_tokens"),
    ],
)
def test_lists_of_responses_are_equally_long(case: Case, place: int, change, what: str) -> None:
    path = rewrite(case, lambda number, row: change(row) if number == place else None)
    prompts = read_prompts(case.inputs["data"] / "heldout.parquet")
    with pytest.raises(ContractError, match=what) as caught:
        heldout_responses(path, prompts)
    model = "base" if place < 10 else "trained"
    assert f"model {model}, row {case.heldout[place % 10]['id']}" in caught.value.where


def test_several_responses_to_each_prompt_are_scored(case: Case) -> None:
    path = rewrite(case, lambda place, row: repeat(row, 2))
    found = heldout_responses(path, read_prompts(case.inputs["data"] / "heldout.parquet"))
    assert len({response.sample.sample_id for response in found}) == 40
