"""Executing steps: reuse, identity, what is published, what is logged."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from step_samples import MODULE, STEPS, seed

from components.core.errors import ContractError, StepError, StorageError
from components.core.manifest import Manifest
from components.core.spec import Experiment
from components.core.step import Step, StepContext, execute, runlog
from components.core.step.results import Results
from components.core.store import Store


def calls(state: Path, name: str) -> int:
    path = state / f"calls-{name}"
    return path.stat().st_size if path.exists() else 0


def with_seed(experiment: Experiment, value: int) -> str:
    return experiment.model_copy(update={"seed": value}).to_json()


def made(run: Any, **more: Any) -> Step:
    return Step("made", MODULE, seed, run, **more)


def local(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))


def test_publishes_then_reuses(experiment: Experiment, state: Path, store_url: str) -> None:
    first = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    second = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    assert (first.reused, second.reused) == (False, True)
    assert dataclasses.replace(first, reused=True) == second
    assert calls(state, "produce") == 1
    assert (local(first.uri) / "value.txt").read_text() == "0"
    identity_folder = f"{store_url}/{experiment.name}/produce/{first.identity}"
    assert first.uri == f"{identity_folder}/{first.sha256[:12]}"
    assert [line.status for line in runlog.read(runlog.log_path(state))] == ["ran", "reused"]
    assert runlog.log_path(state) == state / "runs" / "run-1" / "steps.jsonl"


def test_manifest_says_where_it_all_came_from(experiment: Experiment, state: Path, store_url: str) -> None:
    produced = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    consumed = execute(STEPS["consume"], experiment.to_json(), store_url, {"data": produced.uri})
    manifest = Manifest.read(local(produced.uri))
    assert manifest.step == "produce"
    assert manifest.identity == produced.identity
    assert manifest.sha256 == produced.sha256
    assert manifest.seeds == {"seed": 1}
    assert manifest.depends == {"seed": 1}
    assert manifest.metadata == {"rows": 3, "share": 0.5, "label": "é", "unknown": None}
    assert manifest.packages == {"pyarrow": pa.__version__}
    assert manifest.host["cpus"] >= 1  # type: ignore[operator]
    assert manifest.python.startswith("3.")
    assert len(manifest.code_version) == 64
    assert manifest.started.endswith("+00:00")
    source = Manifest.read(local(consumed.uri)).inputs["data"]
    assert (source.uri, source.sha256) == (produced.uri, produced.sha256)


def test_rows_of_parquet_files_are_counted(experiment: Experiment, state: Path, store_url: str) -> None:
    def run(ctx: StepContext) -> dict[str, Any]:
        (ctx.out / "sub").mkdir()
        pq.write_table(pa.table({"a": list(range(17))}), ctx.out / "sub" / "t.parquet")
        return {}

    published = execute(made(run), experiment.to_json(), store_url, {})
    assert Manifest.read(local(published.uri)).rows == {"sub/t.parquet": 17}


def test_what_calls_itself_parquet_and_is_not(experiment: Experiment, state: Path, store_url: str) -> None:
    def run(ctx: StepContext) -> dict[str, Any]:
        (ctx.out / "t.parquet").write_text("no")
        return {}

    with pytest.raises(ContractError, match="not a parquet file"):
        execute(made(run), experiment.to_json(), store_url, {})


def test_identity_follows_the_content_of_inputs(experiment: Experiment, state: Path, store_url: str) -> None:
    def both(value: int) -> tuple[str, str, bool]:
        produced = execute(STEPS["produce"], with_seed(experiment, value), store_url, {})
        consumed = execute(STEPS["consume"], with_seed(experiment, value), store_url, {"data": produced.uri})
        return produced.identity, consumed.identity, consumed.reused

    one, other_seed, other_content = both(1), both(2), both(10)
    assert one[0] != other_seed[0]
    assert (one[1], other_seed[2]) == (other_seed[1], True), "same content under another URI is the same input"
    assert other_content[1] != one[1]
    assert not other_content[2]
    assert calls(state, "consume") == 2


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"module": "components.core.identity"},
        {"extra_modules": ("components.core.progress",)},
        {"packages": ("pyarrow", "pytest")},
        {"depends": lambda experiment: {"seed": experiment.seed, "more": 1}},
    ],
)
def test_every_cause_runs_the_step_again(
    experiment: Experiment, state: Path, store_url: str, change: dict[str, Any]
) -> None:
    execute(STEPS["produce"], experiment.to_json(), store_url, {})
    again = execute(dataclasses.replace(STEPS["produce"], **change), experiment.to_json(), store_url, {})
    assert not again.reused


def test_cluster_is_no_cause(experiment: Experiment, state: Path, store_url: str) -> None:
    first = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    cluster = experiment.cluster.model_copy(update={"name": "elsewhere"})
    moved = experiment.model_copy(update={"cluster": cluster})
    assert execute(STEPS["produce"], moved.to_json(), store_url, {}).reused
    assert first.identity


def test_step_that_is_not_durable_always_runs(experiment: Experiment, state: Path, store_url: str) -> None:
    for _ in range(3):
        published = execute(STEPS["tear-down"], experiment.to_json(), store_url, {})
    assert calls(state, "tear-down") == 3
    assert (published.uri, published.sha256, published.reused) == ("", "", False)
    assert published.metadata == {"ended": True}
    assert Store.open(store_url).list() == []
    assert [line.status for line in runlog.read(runlog.log_path(state))] == ["ran"] * 3


def test_failure_is_logged_and_raised(experiment: Experiment, state: Path, store_url: str) -> None:
    with pytest.raises(StepError, match="cannot be trained"):
        execute(STEPS["fail"], experiment.to_json(), store_url, {})
    with pytest.raises(ZeroDivisionError):
        execute(STEPS["crash"], experiment.to_json(), store_url, {})
    lines = runlog.read(runlog.log_path(state))
    assert [(line.step, line.status, line.error) for line in lines] == [
        ("fail", "failed", "the policy cannot be trained"),
        ("crash", "failed", "never planned for"),
    ]
    assert all(len(line.identity) == 64 for line in lines)
    assert Store.open(store_url).list() == []


@pytest.mark.parametrize("returned", [{"x": [1]}, {"x": float("nan")}, {"x": Path("/")}])
def test_what_a_step_returns_must_be_scalars(
    experiment: Experiment, state: Path, store_url: str, returned: dict[str, Any]
) -> None:
    def run(ctx: StepContext) -> dict[str, Any]:
        (ctx.out / "x").touch()
        return returned

    with pytest.raises(StepError):
        execute(made(run), experiment.to_json(), store_url, {})


def test_step_that_leaves_nothing(experiment: Experiment, state: Path, store_url: str) -> None:
    with pytest.raises(StepError, match="left nothing to publish"):
        execute(made(lambda ctx: {}), experiment.to_json(), store_url, {})


@pytest.mark.parametrize("keep", [False, True])
def test_work_survives_failure_and_goes_after_publishing_unless_kept(
    experiment: Experiment, state: Path, store_url: str, keep: bool
) -> None:
    places: list[Path] = []

    def run(ctx: StepContext) -> dict[str, Any]:
        places.append(ctx.work)
        (ctx.out / "left-over").write_text("of the last attempt") if len(places) == 1 else None
        if not (ctx.work / "half").exists():
            (ctx.work / "half").touch()
            raise StepError("half way")
        (ctx.out / "x").touch()
        return {}

    step = made(run, keep_work=keep)
    with pytest.raises(StepError, match="half way"):
        execute(step, experiment.to_json(), store_url, {})
    published = execute(step, experiment.to_json(), store_url, {})
    assert places[0] == places[1] == state / "work" / experiment.name / "made" / published.identity
    assert places[0].exists() == keep
    assert [entry.path for entry in Manifest.read(local(published.uri)).files] == ["x"], "out starts empty"
    assert [p.suffix for p in places[0].parent.iterdir() if p != places[0]] == [".lock"]


def test_finished_work_is_published_later_without_doing_it_again(
    experiment: Experiment, state: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_store(*rest: object) -> None:
        raise StorageError("the store went away")

    monkeypatch.setattr(Results, "publish", no_store)
    with pytest.raises(StorageError):
        execute(STEPS["produce"], experiment.to_json(), store_url, {})
    monkeypatch.undo()
    monkeypatch.setenv("GAVEL_STATE", str(state))
    published = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    assert calls(state, "produce") == 1
    assert not published.reused


def test_finished_work_that_was_touched_since_is_done_again(
    experiment: Experiment, state: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Results, "publish", lambda *rest: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        execute(STEPS["produce"], experiment.to_json(), store_url, {})
    monkeypatch.undo()
    monkeypatch.setenv("GAVEL_STATE", str(state))
    (out,) = (state / "work" / experiment.name / "produce").glob("*.out")
    (out / "value.txt").write_text("touched")
    published = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    assert calls(state, "produce") == 2
    assert (local(published.uri) / "value.txt").read_text() == "0"


@pytest.mark.parametrize("damage", ["missing file", "no manifest", "odd result", "odd manifest", "cut file"])
def test_damaged_result_is_made_again(
    experiment: Experiment, state: Path, store_url: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    folder = local(first.uri)
    if damage == "missing file":
        (folder / "value.txt").unlink()
    elif damage == "cut file":
        (folder / "value.txt").write_text("")
    elif damage == "no manifest":
        (folder / "manifest.json").unlink()
    elif damage == "odd manifest":
        (folder / "manifest.json").write_text("{}")
    else:
        (folder.parent / "result.json").write_text("{")
    again = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    assert (again.reused, again.sha256) == (False, first.sha256)
    assert "cannot be used and is made again" in capsys.readouterr().out
    assert execute(STEPS["produce"], experiment.to_json(), store_url, {}).reused


def test_corrupted_input_is_named_and_never_read(experiment: Experiment, state: Path, store_url: str) -> None:
    produced = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    (local(produced.uri) / "value.txt").write_text("9")
    with pytest.raises(StorageError, match=r"corrupted file value\.txt"):
        execute(STEPS["consume"], experiment.to_json(), store_url, {"data": produced.uri})
    assert calls(state, "consume") == 0


def test_missing_input_is_named(experiment: Experiment, state: Path, store_url: str) -> None:
    with pytest.raises(StorageError, match="not there") as caught:
        execute(STEPS["consume"], experiment.to_json(), store_url, {"data": f"{store_url}/no/such"})
    assert "no/such/manifest.json" in caught.value.where


def test_inputs_from_another_store(experiment: Experiment, state: Path, store_url: str, tmp_path: Path) -> None:
    produced = execute(STEPS["produce"], experiment.to_json(), (tmp_path / "elsewhere").as_uri(), {})
    assert execute(STEPS["consume"], experiment.to_json(), store_url, {"data": produced.uri}).metadata["text"] == "0"


def test_a_moved_store_keeps_its_results(experiment: Experiment, state: Path, store_url: str, tmp_path: Path) -> None:
    execute(STEPS["produce"], experiment.to_json(), store_url, {})
    shutil.move(tmp_path / "store", tmp_path / "moved")
    moved = execute(STEPS["produce"], experiment.to_json(), (tmp_path / "moved").as_uri(), {})
    assert moved.reused
    assert moved.uri.startswith((tmp_path / "moved").as_uri())


def test_log_line_cut_by_a_kill_is_left_out(state: Path) -> None:
    runlog.append(state, runlog.StepLine("a", "ran", "i", 1.5, "u"))
    with runlog.log_path(state).open("a") as stream:
        stream.write('{"step": "b"')
    assert runlog.read(runlog.log_path(state)) == [runlog.StepLine("a", "ran", "i", 1.5, "u")]
    assert runlog.read(state / "none") == []


@pytest.mark.s3
def test_over_s3(experiment: Experiment, state: Path, s3: str) -> None:
    produced = execute(STEPS["produce"], experiment.to_json(), s3, {})
    consumed = execute(STEPS["consume"], experiment.to_json(), s3, {"data": produced.uri})
    assert produced.uri.startswith(f"{s3}/{experiment.name}/produce/")
    assert consumed.metadata["text"] == "0"
    assert execute(STEPS["consume"], experiment.to_json(), s3, {"data": produced.uri}).reused
    left = [path for path in (state / "work").rglob("*") if path.is_file()]
    assert {path.suffix for path in left} == {".lock"}, "fetched inputs are removed"
    record = json.loads(Store.open(s3).read_bytes(f"{experiment.name}/consume/{consumed.identity}/result.json"))
    assert record["sha256"] == consumed.sha256
    Store.open(produced.uri).write_bytes("value.txt", b"9")
    (state / "calls-consume").unlink()
    changed = dataclasses.replace(STEPS["consume"], name="consume-again")
    with pytest.raises(StorageError, match=r"corrupted file value\.txt"):
        execute(changed, experiment.to_json(), s3, {"data": produced.uri})
    assert calls(state, "consume") == 0


def test_only_the_files_that_a_step_needs_are_read(experiment: Experiment, state: Path, store_url: str) -> None:
    def produce(ctx: StepContext) -> dict[str, Any]:
        (ctx.out / "deep").mkdir()
        (ctx.out / "deep" / "large.bin").write_bytes(b"0" * 1000)
        (ctx.out / "small.txt").write_text("5")
        return {}

    produced = execute(made(produce), experiment.to_json(), store_url, {})
    (local(produced.uri) / "deep" / "large.bin").write_bytes(b"damaged")

    def consume(ctx: StepContext) -> dict[str, Any]:
        (ctx.out / "x").write_text((ctx.inputs["data"] / "small.txt").read_text())
        return {}

    step = dataclasses.replace(made(consume), name="consumer", needs={"data": ("*.txt",)})
    assert execute(step, experiment.to_json(), store_url, {"data": produced.uri}).uri
    whole = dataclasses.replace(step, name="all", needs={})
    with pytest.raises(StorageError, match=r"large\.bin"):
        execute(whole, experiment.to_json(), store_url, {"data": produced.uri})


def test_a_step_that_acts_on_the_world_needs_no_store(experiment: Experiment, state: Path) -> None:
    def act(ctx: StepContext) -> dict[str, Any]:
        return {"ended": True}

    step = made(act, durable=False)
    published = execute(step, experiment.to_json(), "s3://nowhere/at-all", {})
    assert published.metadata["ended"] is True


def test_a_step_can_keep_things_beside_its_result(experiment: Experiment, state: Path, store_url: str) -> None:
    def run(ctx: StepContext) -> dict[str, Any]:
        assert ctx.store is not None
        assert ctx.place == f"{experiment.name}/made/{ctx.identity}"
        ctx.store.write_bytes(f"{ctx.place}/evidence/{len(ctx.store.list(ctx.place))}", b"seen")
        (ctx.out / "a").write_text("a")
        if len(ctx.store.list(ctx.place)) < 2:
            raise StepError("once more")
        return {}

    with pytest.raises(StepError, match="once more"):
        execute(made(run), experiment.to_json(), store_url, {})
    published = execute(made(run), experiment.to_json(), store_url, {})
    assert [entry.path for entry in Manifest.read(local(published.uri)).files] == ["a"]
    beside = sorted(path.name for path in local(published.uri).parent.iterdir())
    assert beside == sorted([published.sha256[:12], "evidence", "result.json"])
    assert execute(made(run), experiment.to_json(), store_url, {}).reused


def test_a_step_that_publishes_nothing_has_no_store(experiment: Experiment, state: Path) -> None:
    def run(ctx: StepContext) -> dict[str, Any]:
        return {"store": ctx.store is not None, "place": ctx.place, "url": ctx.store_url}

    # None is opened, since the step must work without one; where one would be, it may know.
    nowhere = "s3://nobody/there"
    found = execute(made(run, durable=False), experiment.to_json(), nowhere, {})
    assert found.metadata == {"store": False, "place": f"{experiment.name}/made/{found.identity}", "url": nowhere}
