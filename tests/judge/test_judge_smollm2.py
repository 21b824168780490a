"""What the shipped prompts are worth with SmolLM2 on hand-written items: they rank, and do not pay for parroting."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.core.spec import load_experiment
from components.judge.build import build_protocol
from components.judge.server.engine import Engine
from components.judge.server.jobs import Job
from components.judge.verdict import Criterion, Sample

pytestmark = [pytest.mark.slow, pytest.mark.smollm]

SETS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("items.json").read_text())["sets"]


@pytest.fixture(scope="module")
def smollm(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    from components.judge.server.model import Model
    from components.judge.server.text import Text
    from components.models.materialize import cache_folder, materialize

    source = load_experiment("quickstart").judge.source
    assert source is not None
    folder = materialize(source, cache_folder(tmp_path_factory.mktemp("state")))
    return Engine(Model(folder), Text(folder))


def log_ratios(engine: Engine, criterion: str, responses: list[str]) -> list[float]:
    protocol = build_protocol(load_experiment("quickstart").reward)
    jobs = []
    for text in responses:
        sample = Sample("r", "s", "", text, (Criterion(criterion),))
        for prefix in protocol.prefixes(sample):
            prompt = engine.text.encode(prefix + protocol.response(sample), special=True)
            jobs.append(Job(prompt.ids, prompt.first_token_after(len(prefix))))
    sums = [sum(score.logprob for score in answer.prompt if score is not None) for answer in engine.answer(jobs)]
    return [conditioned - plain for plain, conditioned in zip(sums[0::2], sums[1::2], strict=True)]


def area(better: list[float], worse: list[float]) -> float:
    """Area under the curve: how often a better item ranks above a worse one; ties count half."""
    return sum((a > b) + 0.5 * (a == b) for a in better for b in worse) / (len(better) * len(worse))


@pytest.mark.parametrize("items", SETS, ids=[items["criterion"] for items in SETS])
def test_ordinary_sentences_rank_above_those_without_and_above_parroting(smollm: Engine, items: dict[str, Any]) -> None:
    found = {
        kind: log_ratios(smollm, items["criterion"], items[kind]) for kind in ("good", "without", "parrot", "evasive")
    }
    assert area(found["good"], found["without"]) >= 0.9
    assert area(found["good"], found["parrot"]) >= 0.9
    # Other kinds of talk about the task than the prompt shows: weaker, and far from what plain prompts give (0.2).
    assert area(found["good"], found["evasive"]) >= 0.6
