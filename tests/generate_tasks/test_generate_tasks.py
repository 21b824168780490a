"""Answers to test tables: each task once, by its domain's limits, by the models that are asked for."""

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from components.core.contracts import GENERATIONS, PROMPTS, read_table, write_table
from components.core.errors import ContractError
from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import StepContext
from components.generate.model import Generation, Message
from components.generate.sampling import Sampling
from components.generate_tasks import step as module
from components.generate_tasks.step import ALONE, BOTH, STEP
from components.tasks.tables import read_tests

EXPERIMENT = "mixed_qwen25_7b"
TASKS = ["evaluation.tasks.max_response_tokens={math: 7, qa: 3, code: 5}", "seed=4"]


def row(name: str, dataset: str, domain: str, question: str = "q") -> dict[str, Any]:
    info = {"id": name, "index": 0, "split": "test", "question": question, "rubric": "[]", "template": dataset}
    return {
        "prompt": [{"role": "user", "content": f"{question} {name}"}],
        "data_source": dataset,
        "ability": domain,
        "reward_model": {"style": "task", "ground_truth": "{}"},
        "extra_info": info,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "tests").mkdir(parents=True)
    gsm = [row(f"g{number}", "gsm8k", "math") for number in range(3)]
    squad = [row(f"s{number}", "squad2", "qa") for number in range(2)]
    code = [row("h0", "humaneval", "code")]
    for name, rows in (("gsm8k", gsm), ("squad2", squad), ("humaneval", code), ("mixed", [gsm[1], squad[0], code[0]])):
        write_table(folder / "tests" / f"{name}.parquet", rows, PROMPTS)
    return folder


class Scripted:
    """Says which model it is, what it was asked, and with which sampling; counts its closing."""

    def __init__(self, name: str) -> None:
        self.name, self.asked, self.closed = name, [], 0

    def generate(self, prompts: Sequence[Sequence[Message]], sampling: Sampling) -> Iterator[Generation]:
        for index, prompt in enumerate(prompts):
            self.asked.append(prompt[-1]["content"])
            text = f"{self.name}: {prompt[-1]['content']} in {sampling.max_tokens}"
            n = sampling.samples
            yield Generation(index, (text,) * n, (True,) * n, (sampling.max_tokens,) * n)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[Scripted]:
    opened: list[Scripted] = []

    def open_one(experiment: Experiment, folder: Path) -> Scripted:
        opened.append(Scripted(folder.name))
        return opened[-1]

    monkeypatch.setattr(module, "open_generator", open_one)
    monkeypatch.setattr(module, "materialize", lambda *_: Path("/somewhere/base"))
    return opened


def context(experiment: Experiment, folder: Path, data: Path) -> StepContext:
    for name in ("out", "work"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    inputs = {"data": data, "model": folder / "given"}
    return StepContext(
        experiment, inputs, {}, folder / "out", folder / "work", "id", Progress("t"), state=folder / "state"
    )


def answers(place: StepContext) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_table(place.out / "generations.parquet", GENERATIONS).to_pylist()
    return found


def test_each_task_is_answered_once_by_its_domains_limit(tmp_path: Path, data: Path, models: list[Scripted]) -> None:
    experiment = load_experiment(EXPERIMENT, TASKS)
    place = context(experiment, tmp_path, data)
    found = STEP.run(place)
    rows = answers(place)
    assert found["tasks"] == 6
    assert [(each["model"], each["row_id"]) for each in rows] == [
        (model, name) for model in ("base", "trained") for name in ("g0", "g1", "g2", "s0", "s1", "h0")
    ]
    limits = {"g": 7, "s": 3, "h": 5}
    for each in rows:
        assert each["responses"] == [
            f"{'base' if each['model'] == 'base' else 'model'}: q {each['row_id']} in {limits[each['row_id'][0]]}"
        ]
    # One load a model, whatever the number of domains.
    assert [(each.name, each.closed) for each in models] == [("base", 1), ("model", 1)]


def test_a_killed_step_asks_only_what_is_left(tmp_path: Path, data: Path, models: list[Scripted]) -> None:
    experiment = load_experiment(EXPERIMENT, TASKS)
    first = context(experiment, tmp_path, data)
    STEP.run(first)
    rows = answers(first)
    # What the killed process had of the last domain is gone.
    (first.work / "trained-code.jsonl").unlink()
    models.clear()
    again = context(experiment, tmp_path, data)
    STEP.run(again)
    assert answers(again) == rows
    assert [(each.name, each.asked) for each in models] == [("model", ["q h0"])]


def test_a_given_model_is_not_called_trained(
    tmp_path: Path, data: Path, models: list[Scripted], capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = load_experiment(EXPERIMENT, TASKS)
    BOTH.run(context(experiment, tmp_path / "both", data))
    printed = capsys.readouterr().out
    assert "base math" in printed
    assert "model math" in printed
    assert "trained" not in printed
    STEP.run(context(experiment, tmp_path / "step", data))
    assert "trained math" in capsys.readouterr().out


def test_who_answers_is_part_of_the_identity(tmp_path: Path, data: Path, models: list[Scripted]) -> None:
    experiment = load_experiment(EXPERIMENT, TASKS)
    quiet = load_experiment(EXPERIMENT, [*TASKS, "evaluation.tasks.base=false"])
    assert STEP.depends(experiment) == BOTH.depends(experiment) == BOTH.depends(quiet)
    assert STEP.depends(quiet) == ALONE.depends(experiment) == ALONE.depends(quiet)
    assert STEP.depends(quiet) != STEP.depends(experiment)
    place = context(experiment, tmp_path, data)
    ALONE.run(place)
    assert {each["model"] for each in answers(place)} == {"trained"}
    # The k of pass@k and the level of intervals are counted afterwards.
    counted = load_experiment(
        EXPERIMENT,
        [*TASKS, "evaluation.tasks.ks=[1, 2]", "evaluation.tasks.temperature=0.5", "evaluation.tasks.samples.code=2"],
    )
    plain = load_experiment(EXPERIMENT, [*TASKS, "evaluation.tasks.temperature=0.5", "evaluation.tasks.samples.code=2"])
    assert STEP.depends(counted) == STEP.depends(plain) != STEP.depends(experiment)


def test_sets_and_limit_choose_by_the_hash_of_the_id(data: Path) -> None:
    names = ["g0", "g1", "g2"]
    least = min(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    found = read_tests(data, sets=["gsm8k"], limit=1)
    assert list(found.rows) == found.members["gsm8k"] == [least]
    assert set(read_tests(data).members) == {"gsm8k", "squad2", "humaneval", "mixed"}
    assert len(read_tests(data).rows) == 6


def test_one_id_for_two_tasks_is_refused(data: Path) -> None:
    write_table(data / "tests" / "mixed.parquet", [row("g0", "gsm8k", "math", "another")], PROMPTS)
    with pytest.raises(ContractError, match="two different tasks"):
        read_tests(data)


def test_a_table_that_is_not_there_is_named(data: Path) -> None:
    with pytest.raises(ContractError, match="no test table mbpp") as caught:
        read_tests(data, sets=["mbpp"])
    assert "gsm8k" in caught.value.remedy


def test_answers_are_drawn_as_the_experiment_says() -> None:
    experiment = load_experiment(
        EXPERIMENT, ["evaluation.tasks.temperature=0.5", "evaluation.tasks.samples={math: 1, qa: 1, code: 6}", "seed=9"]
    )
    found = module.sampling_of(experiment)
    assert {name: each.samples for name, each in found.items()} == {"math": 1, "qa": 1, "code": 6}
    assert dataclasses.replace(found["math"], max_tokens=1) == Sampling(1, 0.5, 1, 9)
