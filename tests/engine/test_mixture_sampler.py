"""The mixture's draw inside the data loader that verl uses: resumed from its state, and told in metrics."""

import json
from pathlib import Path

import pytest

pytest.importorskip("verl")

from task_rows import write_rows
from torchdata.stateful_dataloader import StatefulDataLoader

from components.core.errors import ConfigError, ContractError
from components.core.spec import load_experiment
from components.engine.mixture_sampler import MixtureSampler, Record
from components.engine.overrides import TrainingPaths, verl_overrides
from components.train.prompts import check_draw

SOURCES = ["gsm8k"] * 5 + ["squad2"] * 6 + ["mbpp"] * 7


@pytest.fixture
def draw(tmp_path: Path) -> Path:
    sets = {"gsm8k": "math", "squad2": "qa", "mbpp": "code"}
    value = {
        "weights": {"math": 4, "qa": 3, "code": 3},
        "within": "equal",
        "repeat_cap": 3,
        "sets": {name: {"domain": domain} for name, domain in sets.items()},
    }
    path = tmp_path / "draw.json"
    path.write_text(json.dumps(value))
    return path


def loader(draw: Path, seed: int = 2) -> StatefulDataLoader:
    sampler = MixtureSampler(draw, SOURCES, batch=4, seed=seed)
    return StatefulDataLoader(list(range(len(SOURCES))), batch_size=1, sampler=sampler, num_workers=0, drop_last=True)


def test_a_loader_goes_on_after_a_kill_where_its_checkpoint_was(draw: Path):
    whole = [int(batch[0]) for batch, _ in zip(loader(draw), range(50), strict=False)]
    assert len(whole) == 50, "the order has no end, whatever the number of rows"
    first = loader(draw)
    position = iter(first)
    for _ in range(17):
        next(position)
    state = first.state_dict()
    # What was drawn after the checkpoint is drawn again.
    for _ in range(3):
        next(position)
    second = loader(draw)
    second.load_state_dict(state)
    resumed = iter(second)
    assert [int(next(resumed)[0]) for _ in range(33)] == whole[17:]


def test_a_checkpoint_of_another_draw_is_refused(draw: Path):
    first = loader(draw)
    next(iter(first))
    state = first.state_dict()
    other = loader(draw, seed=3)
    other.load_state_dict(state)
    with pytest.raises(ContractError, match="another draw"):
        iter(other)


def test_a_steps_metrics_tell_what_was_drawn_in_it(draw: Path):
    record = Record()
    assert record.take() == {}
    made = MixtureSampler(draw, SOURCES, batch=4, seed=0)
    order = made.draw()
    for count in (4, 5):
        for _ in range(count):
            next(order)
            record.note(order, made.domains)
        found = record.take()
    assert found["draw/prompts"] == 5
    # Batches of 2, 1, 1 and 1, 1, 2 by hand, and the first prompt of the third.
    assert found["draw/share/domain_code"] in (2 / 5, 3 / 5)
    assert sum(found[f"draw/share/domain_{name}"] for name in ("math", "qa", "code")) == pytest.approx(1)
    assert found["draw/share/mbpp"] == found["draw/share/domain_code"]
    assert found["draw/all/gsm8k"] == pytest.approx(order.drawn["gsm8k"] / 9)
    assert found["draw/epochs/gsm8k"] == order.drawn["gsm8k"] / 5
    assert found["draw/over_cap"] == 0


S3 = "{path: 's3://bucket/rows.jsonl'}"
MIXED = (
    f"data={{name: mixed, kind: mixture, heldout_rows: 4, mixture: {{sources: {{gsm8k: {{train: [{S3}]}}, "
    f"squad2: {{train: [{S3}]}}, mbpp: {{all: [{S3}]}}}}%s}}}}"
)


@pytest.mark.parametrize(
    ("overrides", "there"),
    [
        ([], False),
        ([MIXED % "", "reward=rule-only"], True),
        ([MIXED % ", draw: materialised, total_rows: 8", "reward=rule-only"], False),
    ],
)
def test_only_a_mixture_drawn_by_weights_changes_verls_sampler(overrides: list[str], there: bool):
    paths = TrainingPaths(Path("/m"), Path("/data/train.parquet"), Path("/c"))
    rendered = verl_overrides(load_experiment("tiny", overrides), paths)
    assert ("+data.gavel_draw='/data/draw.json'" in rendered) is there
    assert any("gavel_draw" in override for override in rendered) is there


def test_more_steps_than_the_cap_allows_are_refused_before_training(tmp_path: Path, draw: Path):
    data = tmp_path / "train.parquet"
    write_rows(data, SOURCES)
    # 18 rows at most 3 times are 54 prompts: 13 steps of 4, and not 14.
    check_draw(load_experiment("tiny", [MIXED % "", "reward=rule-only", "training.steps=13"]), data)
    with pytest.raises(ConfigError, match=r"draw 56, and 18 rows, each at most 3 times, give 54"):
        check_draw(load_experiment("tiny", [MIXED % "", "reward=rule-only", "training.steps=14"]), data)
    write_rows(data, [*SOURCES, "math"])
    with pytest.raises(ContractError, match="does not know the set 'math'"):
        check_draw(load_experiment("tiny", [MIXED % "", "reward=rule-only", "training.steps=1"]), data)
