"""A judging step's ledger is in the store after it succeeded, failed, or was killed and run again."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from test_ledger_faults import call
from test_ledger_rows import entries

from components.core.errors import StepError
from components.core.manifest import Manifest, Scalar
from components.core.spec import Experiment, load_experiment
from components.core.step import Step, StepContext, execute
from components.core.store import Store
from components.judge.__main__ import main
from components.judge.memory import Ledger
from components.judge.memory.segments import join
from components.judge.memory.shipping import shipped

ROOT = Path(__file__).parents[3]


def judge(ctx: StepContext) -> Mapping[str, Scalar]:
    """Judges one sample more at each start, and does at the end what ``<state>/then`` says."""
    path = ctx.work / "ledger.sqlite"
    with shipped(path, ctx), Ledger(path) as ledger:
        number = len(ledger.rows()) // 2
        ledger.add(entries(f"s{number}"))
        ledger.add_call(call())
        then = (ctx.state / "then").read_text()
        if then == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if then == "fail":
            raise StepError("the judge is not usable")
        if then == "fail without a store":
            (ctx.state.parent / "store").write_text("")
            raise StepError("the judge is not usable")
        (ctx.out / "samples.txt").write_text(str(number + 1))
    return {"samples": number + 1}


STEP = Step("judge", "components.core.errors", lambda experiment: {"seed": experiment.seed}, judge)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    monkeypatch.setenv("GAVEL_STATE", str(folder))
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    return folder


@pytest.fixture
def experiment() -> Experiment:
    return load_experiment("tiny", ["seed=1"], ROOT / "configs")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open((tmp_path / "store").as_uri())


def samples(store: Store) -> list[str]:
    return [row[0] for row in join(store).execute("SELECT sample_id FROM verdicts WHERE criterion_index = 0")]


def test_after_success_and_after_failure(
    state: Path, store: Store, experiment: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    (state / "then").write_text("fail")
    for _ in range(2):
        with pytest.raises(StepError, match="not usable"):
            execute(STEP, experiment.to_json(), store.url, {})
    assert samples(store) == ["s0", "s1"]
    (state / "then").write_text("succeed")
    published = execute(STEP, experiment.to_json(), store.url, {})
    assert published.metadata == {"samples": 3}
    assert samples(store) == ["s0", "s1", "s2"]
    # Segments lie beside the content, in the identity's folder, and are no part of it.
    folder = Path(published.uri.removeprefix("file://"))
    assert [entry.path for entry in Manifest.read(folder).files] == ["samples.txt"]
    assert len(list(folder.parent.glob("ledger/*/calls-*.parquet"))) == 3
    assert execute(STEP, experiment.to_json(), store.url, {}).reused
    capsys.readouterr()
    assert main(["ledger", f"{store.url}/{experiment.name}"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("j "))
    # Six verdicts, of which each sample's second is unknown; three calls.
    none = ["0", "(0.0", "%)"]
    verdicts = ["6", "3", "(50.0", "%)", *none, *none]
    calls = ["3", *none, *none, "3", *none, "0", "-"]
    assert line.split()[1:] == [*verdicts, *calls]


def test_after_kills_and_a_run_to_the_end(state: Path, store: Store, experiment: Experiment) -> None:
    code = (
        "import sys; from test_shipping import STEP; from components.core.step import execute;"
        "execute(STEP, sys.argv[1], sys.argv[2], {})"
    )
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent), str(Path(__file__).parents[1])])
    (state / "then").write_text("kill")
    for _ in range(2):
        command = [sys.executable, "-c", code, experiment.to_json(), store.url]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False, timeout=60)
        assert done.returncode == -signal.SIGKILL
    assert store.list() == []
    (state / "then").write_text("succeed")
    execute(STEP, experiment.to_json(), store.url, {})
    assert samples(store) == ["s0", "s1", "s2"]


def test_a_store_that_fails_too_does_not_hide_why_the_step_failed(
    state: Path, store: Store, experiment: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    (state / "then").write_text("fail without a store")
    with pytest.raises(StepError, match="not usable"):
        execute(STEP, experiment.to_json(), store.url, {})
    assert "ledger.sqlite and is not in the store" in capsys.readouterr().out


def test_no_ledger_is_made_where_none_was(state: Path, store: Store, experiment: Experiment) -> None:
    def empty(ctx: StepContext) -> Mapping[str, Scalar]:
        with shipped(ctx.work / "ledger.sqlite", ctx):
            (ctx.out / "a").write_text("")
        assert not (ctx.work / "ledger.sqlite").exists()
        return {}

    execute(Step("judge", "components.core.errors", STEP.depends, empty), experiment.to_json(), store.url, {})
