from pathlib import Path

import pytest

from components.core.contracts import GENERATIONS, read_table
from components.core.errors import ContractError
from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import StepContext
from components.data.step import STEP as PREPARE
from components.generate import step as module
from components.generate.answers import chunk_seed, chunks
from components.generate.backend import open_generator
from components.generate.step import ALONE, STEP

SETTINGS = (
    "cluster.cpu_threads=1",
    "data.train_rows=4",
    "data.heldout_rows=10",
    "evaluation.batch=4",
    "evaluation.max_response_tokens=6",
)
SAMPLED = (*SETTINGS, "evaluation.temperature=1.0", "evaluation.samples=2")


def context(experiment: Experiment, folder: Path, **inputs: Path) -> StepContext:
    out, work = folder / "out", folder / "work"
    for path in (out, work):
        path.mkdir(parents=True, exist_ok=True)
    return StepContext(experiment, inputs, {}, out, work, "id", Progress("generate"), state=folder / "state")


@pytest.fixture
def place(tmp_path, cache, tiny_model, monkeypatch):
    """A run of the step: ``place(name, overrides)``; the trained model has other weights than the base policy."""
    monkeypatch.setenv("GAVEL_CACHE", str(cache))
    (tmp_path / "trained").mkdir()
    (tmp_path / "trained" / "model").symlink_to(tiny_model)

    def make(name: str, overrides: tuple[str, ...] = SETTINGS) -> StepContext:
        experiment = load_experiment("tiny", overrides)
        data = context(experiment, tmp_path / "data" / name)
        PREPARE.run(data)
        return context(experiment, tmp_path / name, data=data.out, model=tmp_path / "trained")

    return make


def table(run: StepContext) -> list[dict]:
    return read_table(run.out / "generations.parquet", GENERATIONS).to_pylist()


class Failing:
    """A generator that fails at its ``limit``-th call, as a killed one ends."""

    def __init__(self, generator, limit: int) -> None:
        self.generator, self.limit, self.calls = generator, limit, 0

    def generate(self, prompts, sampling):
        self.calls += 1
        if self.calls == self.limit:
            raise KeyboardInterrupt
        return self.generator.generate(prompts, sampling)

    def close(self) -> None:
        self.generator.close()


def test_both_models_answer_every_heldout_prompt(place):
    run = place("a", SAMPLED)
    returned = STEP.run(run)
    rows = table(run)
    assert [row["model"] for row in rows] == ["base"] * 10 + ["trained"] * 10
    assert [row["row_id"] for row in rows[:10]] == [row["row_id"] for row in rows[10:]]
    assert len({row["row_id"] for row in rows}) == 10
    assert {row["split"] for row in rows} == {"heldout"}
    assert all(len(row["responses"]) == len(row["finished"]) == len(row["response_tokens"]) == 2 for row in rows)
    assert all(1 <= count <= 6 for row in rows for count in row["response_tokens"])
    assert [row["responses"] for row in rows[:10]] != [row["responses"] for row in rows[10:]]
    assert returned["rows"] == 20
    assert 1 <= returned["base_tokens"] <= 6


@pytest.mark.parametrize(
    ("overrides", "victim", "limit"),
    [(SETTINGS, "base", 3), (SAMPLED, "base", 1), (SAMPLED, "trained", 2)],
    ids=["greedy", "first call", "sampled"],
)
def test_a_killed_run_goes_on_where_it_was(place, monkeypatch, overrides, limit, victim):
    whole = place("whole", overrides)
    STEP.run(whole)
    run = place("killed", overrides)
    opened = []

    def failing(experiment, folder):
        opened.append("trained" if folder == run.inputs["model"] / "model" else "base")
        generator = open_generator(experiment, folder)
        return Failing(generator, limit) if opened[-1] == victim else generator

    monkeypatch.setattr(module, "open_generator", failing)
    with pytest.raises(KeyboardInterrupt):
        STEP.run(run)
    assert not (run.out / "generations.parquet").exists()
    counted = []

    def counting(experiment, folder):
        generator = Failing(open_generator(experiment, folder), 0)
        counted.append(generator)
        return generator

    monkeypatch.setattr(module, "open_generator", counting)
    STEP.run(run)
    # Ten prompts in batches of four are three calls a model.
    before = (limit - 1) + (3 if victim == "trained" else 0)
    assert sum(generator.calls for generator in counted) == 6 - before
    assert table(run) == table(whole)


def test_nothing_is_loaded_when_everything_is_there(place, monkeypatch):
    run = place("a")
    STEP.run(run)
    first = table(run)
    monkeypatch.setattr(module, "open_generator", lambda *_: pytest.fail("a model was loaded"))
    monkeypatch.setattr(module, "materialize", lambda *_: pytest.fail("the base policy was made"))
    STEP.run(run)
    assert table(run) == first


def test_a_torn_file_is_made_good(place):
    run = place("a")
    STEP.run(run)
    first = table(run)
    path = run.work / "base.jsonl"
    path.write_bytes(path.read_bytes()[:-7])
    STEP.run(run)
    assert table(run) == first


def test_chunks_depend_on_the_rows_and_not_on_their_order():
    rows = [{"prompt": [{"content": "x" * (number % 3)}], "extra_info": {"id": str(number)}} for number in range(10)]
    groups = chunks(rows, 4)
    assert [len(group) for group in groups] == [4, 4, 2]
    assert chunks(rows[::-1], 4) == groups
    lengths = [len(row["prompt"][0]["content"]) for group in groups for row in group]
    assert lengths == sorted(lengths)
    assert len({chunk_seed(1, group) for group in groups} | {chunk_seed(2, groups[0])}) == 4


def test_missing_data_is_named(place, tmp_path):
    run = place("a")
    (run.inputs["data"] / "heldout.parquet").unlink()
    with pytest.raises(ContractError, match="missing"):
        STEP.run(run)


def test_identity_follows_what_decides_the_responses():
    base = STEP.depends(load_experiment("tiny"))

    def same(*overrides: str) -> bool:
        return STEP.depends(load_experiment("tiny", overrides)) == base

    assert same("cluster.cpu_threads=1", "evaluation.bootstrap_samples=100", "evaluation.confidence=0.9")
    assert same("judge.timeout_seconds=9", "training.steps=1")
    assert not same("evaluation.max_response_tokens=9")
    assert not same("evaluation.temperature=0.5")
    assert not same("policy.source.seed=9")
    assert not same("seed=99")


def test_the_trained_policy_alone(place):
    both, alone = place("a"), place("b")
    STEP.run(both)
    returned = ALONE.run(alone)
    assert table(alone) == table(both)[10:]
    assert returned["rows"] == 10
    assert "base_tokens" not in returned
    assert ALONE.depends(both.experiment) != STEP.depends(both.experiment)
