"""A made-up run whose numbers are known by construction: texts, verdicts, rewards and gold are all chosen by hand."""

import dataclasses
import importlib
import itertools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from components.core.contracts import CALLS, GENERATIONS, METRICS, PROMPTS, ROLLOUTS, SCORES, VERDICTS, write_table
from components.core.manifest import GitState, InputRef, Manifest
from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import StepContext
from components.report.step import STEP

ROOT = Path(__file__).resolve().parents[2]
CRITERIA = (("mentions an animal", 2.0), ("is rude", -1.0))
SUBJECTS = (
    "harbour",
    "kitchen",
    "market",
    "library",
    "orchard",
    "station",
    "bridge",
    "attic",
    "canal",
    "field",
    "mill",
    "pier",
)
TEMPLATES = tuple(f"Template {number} about the {{}}." for number in range(8))
ANIMALS = ("otter", "heron", "badger", "rabbit", "donkey", "pelican")

# kind -> text, keyword, echo, length_ok, words, probability of each criterion
KINDS: Mapping[str, tuple[str, bool, bool, bool, int, tuple[float, float]]] = {
    "gold": ("A small {animal} waited near the {subject} all day.", True, False, True, 9, (0.75, 0.1)),
    "echo": ("The sentence mentions an animal, which is a {animal}.", True, True, True, 9, (0.95, 0.1)),
    "plain": ("The {subject} was quiet in the early morning light.", False, False, True, 9, (0.25, 0.1)),
    "rude": ("Go away from the {subject}, you fool.", False, False, True, 7, (0.1, 0.9)),
    "short": ("A {animal}.", True, False, False, 2, (0.6, 0.1)),
}
REWARDS = {
    # max(0, (2 p - q) / 2) for probabilities p of the first criterion and q of the penalty.
    "gold": 0.7,
    "echo": 0.9,
    "plain": 0.2,
    "rude": 0.0,
    "short": 0.55,
}


def text_of(kind: str, number: int) -> str:
    """The response of a kind, for the number-th prompt."""
    return KINDS[kind][0].format(animal=ANIMALS[number % len(ANIMALS)], subject=SUBJECTS[number % len(SUBJECTS)])


@dataclasses.dataclass
class World:
    """A run in the making. ``base`` and ``trained`` give one kind a prompt, ``rollouts`` (step, prompt) -> kinds.

    A kind with a leading ``?`` is one that the judge could not decide.
    """

    base: list[str]
    trained: list[str]
    rollouts: dict[tuple[int, int], list[str]]
    seconds: bool = True
    texts: dict[str, str] = dataclasses.field(default_factory=dict)

    def write(self, folder: Path) -> dict[str, Path]:
        """Write all tables, and return the steps' folders."""
        folders = {name: folder / name for name in ("data", "training", "generations", "scores")}
        for path in folders.values():
            path.mkdir(parents=True, exist_ok=True)
        self._write_data(folders["data"])
        self._write_heldout(folders["generations"], folders["scores"])
        self._write_training(folders["training"], folders["scores"])
        return folders

    def _write_data(self, folder: Path) -> None:
        for split, count in (("heldout", len(self.base)), ("train", 32)):
            rows = [
                {
                    "prompt": [{"role": "user", "content": question(split, number)}],
                    "data_source": "animal-sentences",
                    "ability": "instruction_following",
                    "reward_model": {
                        "style": "rubric",
                        "ground_truth": json.dumps({"word_list": "animals", "min_words": 4, "max_words": 40}),
                    },
                    "extra_info": {
                        "id": f"{split}-{number:03d}",
                        "index": number,
                        "split": split,
                        "question": question(split, number),
                        "rubric": json.dumps([{"text": text, "points": points} for text, points in CRITERIA]),
                        "template": TEMPLATES[number % len(TEMPLATES)],
                    },
                }
                for number in range(count)
            ]
            write_table(folder / f"{split}.parquet", rows, PROMPTS)

    def _write_heldout(self, generations: Path, scores: Path) -> None:
        answers, scored, verdicts = [], [], []
        for model, kinds in (("base", self.base), ("trained", self.trained)):
            for number, name in enumerate(kinds):
                kind, row_id = name.lstrip("?"), f"heldout-{number:03d}"
                sample_id = f"{model}-{row_id}-0"
                text = self.texts.get(sample_id, text_of(kind, number))
                answers.append(
                    {
                        "model": model,
                        "row_id": row_id,
                        "split": "heldout",
                        "question": question("heldout", number),
                        "responses": [text],
                        "finished": [True],
                        "response_tokens": [12],
                    }
                )
                scored.append(score_row(model, -1, row_id, sample_id, name))
                verdicts += verdict_rows(row_id, sample_id, name)
        write_table(generations / "generations.parquet", answers, GENERATIONS)
        write_table(scores / "scores.parquet", scored, SCORES)
        write_table(scores / "verdicts.parquet", verdicts, VERDICTS)
        write_table(scores / "calls.parquet", call_rows(verdicts), CALLS)

    def _write_training(self, training: Path, scores: Path) -> None:
        rows, scored, verdicts, metrics = [], [], [], []
        for (step, prompt), kinds in self.rollouts.items():
            for index, name in enumerate(kinds):
                kind, row_id = name.lstrip("?"), f"train-{prompt:03d}"
                sample_id = f"{step}-1-{row_id}-{index}"
                known = not name.startswith("?")
                rows.append(
                    {
                        "step": step,
                        "row_id": row_id,
                        "sample_id": sample_id,
                        "sample_index": index,
                        "question": question("train", prompt),
                        "response": text_of(kind, prompt + index),
                        "response_tokens": 12,
                        "finished": True,
                        "status": "scored" if known else "abstained",
                        "reward": REWARDS[kind] if known else None,
                        "reason": None if known else "timeout",
                        "known_weight": 1.0 if known else 0.0,
                        "parts": "{}",
                        "attempt": 1,
                    }
                )
                scored.append(score_row("rollout", step, row_id, sample_id, name))
                verdicts += verdict_rows(row_id, sample_id, name)
        for step in sorted({step for step, _ in self.rollouts}) if self.seconds else ():
            for name, value in (("timing_s/step", 25.0 + step), ("timing_s/gen", 9.0), ("timing_s/update_actor", 11.5)):
                metrics.append({"step": step, "name": name, "value": value})
            metrics.append({"step": step, "name": "actor/grad_norm", "value": 1.5 / step})
        write_table(training / "rollouts.parquet", rows, ROLLOUTS)
        write_table(training / "verdicts.parquet", verdicts, VERDICTS)
        write_table(training / "calls.parquet", call_rows(verdicts), CALLS)
        write_table(training / "metrics.parquet", metrics, METRICS)
        write_table(scores / "rollout_scores.parquet", scored, SCORES)


def question(split: str, number: int) -> str:
    """The prompt's text."""
    return f"{split}: {TEMPLATES[number % len(TEMPLATES)].format(SUBJECTS[number % len(SUBJECTS)])}"


def score_row(model: str, step: int, row_id: str, sample_id: str, name: str) -> dict[str, Any]:
    """A row of SCORES for a response of a kind."""
    kind, known = name.lstrip("?"), not name.startswith("?")
    _, keyword, echo, length_ok, words, _ = KINDS[kind]
    return {
        "model": model,
        "step": step,
        "row_id": row_id,
        "sample_id": sample_id,
        "sample_index": int(sample_id.rsplit("-", 1)[1]),
        "status": "scored" if known else "abstained",
        "judge_reward": REWARDS[kind] if known else None,
        "gold": keyword and not echo and length_ok,
        "keyword": keyword,
        "echo": echo,
        "length_ok": length_ok,
        "words": words,
        "gold_detail": "{}",
    }


def verdict_rows(row_id: str, sample_id: str, name: str) -> list[dict[str, Any]]:
    """Rows of VERDICTS for a response of a kind, one a criterion."""
    kind, known = name.lstrip("?"), not name.startswith("?")
    return [
        {
            "sample_id": sample_id,
            "row_id": row_id,
            "criterion": text,
            "criterion_index": index,
            "status": ("met" if probability > 0.5 else "unmet") if known else "unknown",
            "probability": probability if known else None,
            "log_ratio": None,
            "reason": None if known else "timeout",
            "judge": "smollm2-lr",
            "protocol": "likelihood_ratio:0123456789ab",
            "attempts": 1 if known else 3,
            "seconds": 0.25,
            "prompt_tokens": 40,
            "response_chars": 50,
            "raw_id": None,
            "time": 1.0,
            "mass": None,
            "explanation": None,
        }
        for index, ((text, _), probability) in enumerate(zip(CRITERIA, KINDS[kind][5], strict=True))
    ]


def call_rows(verdicts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of CALLS: one call a sample, which gives all its verdicts."""
    return [
        {
            "time": 1.0,
            "judge": row["judge"],
            "protocol": row["protocol"],
            "purpose": "ask",
            "prompt_hash": "00",
            "attempts": row["attempts"],
            "seconds": row["seconds"],
            "key": None,
            "endpoint": 0,
            "prompt_tokens": 80,
            "completion_tokens": 3,
            "cached_tokens": 0,
            "cost": None,
            "currency": None,
            "finish": "length",
            "reason": row["reason"],
            "from_cache": False,
            "reply_chars": 9,
            "raw_id": None,
            "sample_id": row["sample_id"],
            "response_chars": row["response_chars"],
        }
        for row in verdicts
        if row["criterion_index"] == 0
    ]


def usual_world() -> World:
    """96 held-out prompts: gold 12 -> 56, echo 0 -> 24, keyword 20 -> 80 of 96; two trained rewards are unknown.

    Eight training steps of four prompts with four rollouts: plain answers give way to gold, then to echo.
    """
    base = ["gold"] * 12 + ["short"] * 8 + ["plain"] * 70 + ["rude"] * 6
    trained = ["gold"] * 8 + ["plain"] * 4 + ["gold"] * 48 + ["echo"] * 24 + ["plain"] * 10 + ["?plain"] * 2
    mixes = (
        ["plain", "plain", "rude", "gold"],
        ["plain", "gold", "plain", "short"],
        ["plain", "gold", "gold", "plain"],
        ["gold", "gold", "plain", "gold"],
        ["gold", "echo", "gold", "plain"],
        ["gold", "echo", "echo", "gold"],
        ["echo", "gold", "echo", "echo"],
        ["echo", "echo", "echo", "echo"],
    )
    rollouts = {(step, prompt): list(mixes[step - 1]) for step, prompt in itertools.product(range(1, 9), range(4))}
    rollouts[2, 0] = ["?plain", "?gold", "?plain", "short"]
    rollouts[3, 1] = ["plain", "gold", "?gold", "plain"]
    return World(base, trained, rollouts)


def manifest(step: str, **inputs: str) -> Manifest:
    """A manifest as a step would leave it."""
    return Manifest(
        files=(),
        step=step,
        experiment="quickstart",
        identity="a" * 64,
        code_version="b" * 64,
        inputs={key: InputRef(uri=f"s3://gavel/quickstart/{key}", sha256=value * 64) for key, value in inputs.items()},
        packages={"numpy": "2.4.6"},
        python="3.11.7",
        git=GitState(revision="c" * 40, dirty=False),
        host={"cpus": 2},
        started="2026-11-02T10:00:00+00:00",
        seconds=123.4,
    )


def context_for(world: World, folder: Path, experiment: Experiment) -> StepContext:
    """What the step is given for a world written into ``folder``."""
    inputs = world.write(folder / "inputs")
    (folder / "out").mkdir()
    names = {"data": "prepare-data", "training": "train-grpo", "generations": "generate", "scores": "score"}
    return StepContext(
        experiment=experiment,
        inputs=inputs,
        manifests={key: manifest(step, data="d") for key, step in names.items()},
        out=folder / "out",
        work=folder / "work",
        identity="e" * 64,
        progress=Progress("report"),
        state=folder / "state",
    )


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    """The quickstart with this module's criteria and few resamples."""
    criteria = ", ".join(f"{{text: {text}, points: {points:g}}}" for text, points in CRITERIA)
    overrides = [f"data.criteria=[{criteria}]", "evaluation.bootstrap_samples=400"]
    return load_experiment(ROOT / "configs" / "experiments" / "quickstart.yaml", overrides)


@pytest.fixture
def make_context(tmp_path: Path, experiment: Experiment) -> Callable[[World], StepContext]:
    """From a world to what the step is given."""

    def make(world: World) -> StepContext:
        return context_for(world, tmp_path, experiment)

    return make


@pytest.fixture
def world() -> World:
    """The usual made-up run; a test may change it."""
    return usual_world()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory, experiment: Experiment) -> StepContext:
    """The usual run with its report, written once for tests that only read it."""
    folder = tmp_path_factory.mktemp("written")
    context = context_for(usual_world(), folder, experiment)
    STEP.run(context)
    return context


@pytest.fixture(scope="session")
def recompute() -> ModuleType:
    """The independent script; like every script it finds its neighbours in its own folder."""
    folder = str(Path(__file__).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("recompute")
