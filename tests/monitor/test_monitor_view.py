"""The live view and the commands, on work folders and on what was published."""

import io
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from training_files import ANSWERS, IDENTITY, ROWS, Work, experiment, right

from components.core.errors import ConfigError
from components.core.progress import Progress
from components.core.step import runlog
from components.core.store import Store
from components.engine.checkpoints import MARK
from components.monitor.__main__ import follow, main
from components.monitor.place import Watched
from components.monitor.screen import draw
from components.monitor.status import Kind
from components.monitor.work import WorkFolder
from components.rayjob import messages
from components.rayjob.messages import FAILURE, HEARTBEAT, REQUEST, Failure, Heartbeat, Request
from components.train.keeper import CheckpointKeeper


@pytest.fixture
def work(tmp_path: Path) -> Work:
    found = Work(tmp_path / "state", experiment())
    found.begin()
    found.answer(*ANSWERS)
    found.metrics(1)
    found.buffer(("math", "a"), ("math", "b"))
    return found


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.mark.parametrize("run", ["tiny_workflow", "tiny-workflow"])
def test_a_run_is_named_as_its_file_is_or_as_it_calls_itself(work: Work, tmp_path: Path, run: str) -> None:
    assert lines(draw(Watched(run, tmp_path / "state").look()))[1] == str(work.folder)


def test_an_arm_of_a_study_is_named_by_itself(work: Work, tmp_path: Path) -> None:
    """No file has its name."""
    folder = tmp_path / "state" / "work" / "quick-length-tiny-s1-0a1b2c"
    work.folder.parents[1].rename(folder)
    shown = lines(draw(Watched(folder.name, tmp_path / "state").look()))
    assert shown[1] == str(folder / "train-grpo" / work.folder.name)
    with pytest.raises(ConfigError, match="no such run"):
        Watched("quick-length-tiny-s2-0a1b2c", tmp_path / "state").look()


def test_the_view_of_a_running_training(work: Work) -> None:
    work.signed_by()
    work.beat(2)
    view = lines(draw(WorkFolder(work.folder).look()))
    assert view[0] == "tiny-workflow: training, step 2 of 2"
    assert view[1] == str(work.folder)
    header = "steps 1 to 2 responses right valid reward abstained cut groups differ calls tokens seconds money"
    assert view[3] == header
    # Mean reward -0.129 by hand; 7 calls, 1,250 tokens and 11.5 s over six executed workflows.
    assert view[4] == "all 8 43 % (3 of 7) 75 % (6 of 8) -0.129 1 1 2 of 4 1.2 208 1.9 -"
    assert view[5] == "math 4 75 % (3 of 4) 75 % (3 of 4) 0.425 0 0 1 of 2 1.0 233 2.0 -"
    # tiny_workflow has eight responses a step.
    assert "1 4 of 8 25 % (1 of 4) 75 % (3 of 4) -0.425 0 0:10" in view
    assert "2 4 of 8 67 % (2 of 3) 75 % (3 of 4) 0.267 1 under way" in view
    cost = "cost of the executor: 7 calls of operators, 1250 tokens, 11.5 s, no price; per right answer 417 tokens"
    assert cost in view
    assert "experience buffer: math 2 of 100, qa 0 of 100, code 0 of 100" in view
    assert "a step takes 0:10 (generate 4.0 s); about 0:10 left" in view
    parts = "reward parts, scored answers of steps 1 to 2: correctness +0.325, efficiency +0.075, simplicity +0.075,"
    assert any(line.startswith(parts) for line in view)


def test_the_last_steps_alone_are_summed_up(work: Work) -> None:
    view = lines(draw(WorkFolder(work.folder).look(), last=1))
    assert view[4].startswith("all 4 67 % (2 of 3)")
    assert any(line.startswith("since step 1: 8 responses") for line in view)


def test_a_view_before_the_first_response(tmp_path: Path) -> None:
    empty = Work(tmp_path, experiment())
    empty.signed_by()
    assert lines(draw(WorkFolder(empty.folder).look()))[-1] == "no response yet"


def test_the_view_has_no_control_characters_in_a_pipe(work: Work) -> None:
    work.signed_by()
    out = io.StringIO()
    follow(Watched(str(work.folder), work.state), out, every=0.2, last=5, once=True)
    assert all(sign == "\n" or sign.isprintable() for sign in out.getvalue())


class Growing(io.StringIO):
    """Does something after each view."""

    def __init__(self, *steps: Any) -> None:
        super().__init__()
        self._steps = list(steps)

    def flush(self) -> None:
        if self._steps:
            self._steps.pop(0)()


def test_a_run_is_followed_until_it_is_published(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work.signed_by()
    work.beat(2)

    def one_more() -> None:
        work.answer(right(2, "m2", 2))

    def publish() -> None:
        uri = work.publish(tmp_path / "store")
        monkeypatch.setenv("GAVEL_RUN_ID", "run-1")
        runlog.append(work.state, runlog.StepLine("train-grpo", "ran", IDENTITY, 1.0, uri=uri))
        work.log.close()
        work.folder.rename(tmp_path / "away")

    out = Growing(one_more, publish)
    assert follow(Watched("tiny_workflow", work.state), out, every=0.2, last=5, once=False) == 0
    views = out.getvalue().split("--- 2")[1:]
    assert ["training" in views[0], "8 responses" in views[0], "9 responses" in views[1]] == [True, True, True]
    assert "tiny-workflow: published" in views[-1]
    assert "right" in views[-1]


def test_a_stopped_run_ends_the_view_with_another_status(work: Work) -> None:
    work.beat(2, age=100)
    assert follow(Watched(str(work.folder), work.state), io.StringIO(), every=0.2, last=5, once=False) == 1


def test_a_run_that_has_not_begun_is_waited_for(tmp_path: Path) -> None:
    watched = Watched("tiny_workflow", tmp_path)
    assert watched.look().stand.kind is Kind.NOT_BEGUN
    Work(tmp_path, experiment()).signed_by()
    assert watched.look().stand.kind is Kind.PREPARING


@pytest.mark.parametrize("run", ["", "  ", "no-such-experiment", "no/such/folder"])
def test_what_is_no_run_is_refused(run: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no run is named|no such run"):
        Watched(run, tmp_path).look()


def test_a_folder_without_a_training_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(ConfigError, match="no training is there"):
        Watched(str(tmp_path), tmp_path / "state").look()


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_published_training_is_found_from_each_folder_above(work: Work, tmp_path: Path, depth: int) -> None:
    path = Path(work.publish(tmp_path / "store").removeprefix("file://"))
    for _ in range(depth):
        path = path.parent
    for name in (str(path), path.as_uri()):
        found = Watched(name, tmp_path / "other").look()
        assert found.stand.kind is Kind.PUBLISHED
        assert (found.facts.name, found.facts.steps, found.facts.samples_per_step) == ("tiny-workflow", 2, 8)
        assert [sample.domain for sample in found.samples] == [ROWS[sample.row_id][1] for sample in found.samples]
        assert sum(sample.right == 1.0 for sample in found.samples) == 3


def test_data_that_are_gone_are_told_and_no_reason_to_fail(tmp_path: Path) -> None:
    plain = Work(tmp_path / "state", experiment())
    plain.begin()
    plain.answer(*ANSWERS, workflows=False)
    uri = plain.publish(tmp_path / "store")
    (tmp_path / "store" / "tiny-workflow" / "prepare-data" / "1" / "2" / "train.parquet").unlink()
    found = Watched(uri, tmp_path).look()
    assert [sample.domain for sample in found.samples] == [None] * 8
    assert "sets and domains are unknown" in draw(found)


class Elsewhere:
    """A training on a cluster, as its driver leaves it in the store."""

    def __init__(self, work: Work, url: str, tmp_path: Path) -> None:
        self.work, self.place = work, f"{work.experiment.name}/train-grpo/{IDENTITY}"
        self.store, self.data = Store.open(url), f"{work.experiment.name}/prepare-data/1/2"
        folder = tmp_path / "prepared"
        folder.mkdir()
        (folder / "train.parquet").write_bytes(work.data.read_bytes())
        self.store.upload(folder, self.data)

    def request(self) -> None:
        asked = Request(self.work.experiment.to_json(), {"data": self.store.uri(self.data)}, {})
        messages.write(self.store, self.place, REQUEST, asked)

    def beat(self, step: int, state: Any = "training", age: float = 0.0) -> None:
        beat = Heartbeat("a-0", "s", 1, state, step, "", time.time() - age)
        messages.write(self.store, self.place, HEARTBEAT, beat)

    def checkpoint(self, step: int) -> None:
        folder = self.work.folder / "checkpoints" / f"global_step_{step}"
        folder.mkdir(parents=True)
        (folder / "weights").write_bytes(b"w" * 1000)
        (folder / MARK).write_text("{}")
        progress = Progress("", stream=io.StringIO())
        keeper = CheckpointKeeper(
            self.store, self.place, self.work.folder, keep=1, last=9, progress=progress, poll=0.05
        )
        keeper.start()
        keeper.finish(60)
        assert keeper.trouble == ""

    def stand(self, state: Path) -> Any:
        return Watched(self.store.uri(self.place), state).look()


def follow_elsewhere(away: Elsewhere, state: Path) -> None:
    away.request()
    assert away.stand(state).stand.kind is Kind.PREPARING
    away.beat(1)
    watched = Watched(away.store.uri(away.place), state)
    found = watched.look()
    assert (found.stand.kind, found.stand.step, found.as_of, len(found.samples)) == (Kind.TRAINING, 1, 0, 0)
    assert "figures come with the first checkpoint" in draw(found)
    away.checkpoint(1)
    away.beat(2)
    found = watched.look()
    assert (found.stand.step, found.as_of, len(found.samples)) == (2, 1, 8)
    assert found.buffer == {"math": 2}
    assert "figures as of the checkpoint of step 1" in draw(found)
    assert "math 4 75 % (3 of 4)" in "\n".join(lines(draw(found)))
    away.beat(2, "waiting-for-judge")
    assert watched.look().stand.kind is Kind.PAUSED
    away.beat(2, age=600)
    assert watched.look().stand.kind is Kind.SILENT
    messages.write(away.store, away.place, FAILURE, Failure("a-0", "JudgeError", "no key", remedy="give one"))
    found = watched.look()
    assert (found.stand.kind, found.stand.detail) == (Kind.FAILED, "no key give one")


def test_a_training_elsewhere_is_followed_through_a_folder(work: Work, tmp_path: Path) -> None:
    follow_elsewhere(Elsewhere(work, (tmp_path / "store").as_uri(), tmp_path), tmp_path / "state")


@pytest.mark.s3
def test_a_training_elsewhere_is_followed_through_s3(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from components.core.services import seaweedfs
    from components.core.services.manager import ServiceManager
    from components.core.services.process import ProcessId

    manager = ServiceManager(tmp_path / "s3", ProcessId.current())
    try:
        for name, value in seaweedfs.start(tmp_path / "s3", manager=manager).items():
            monkeypatch.setenv(name, value)
        follow_elsewhere(Elsewhere(work, f"s3://{seaweedfs.BUCKET}/x", tmp_path), tmp_path / "state")
    finally:
        manager.end_all()


@pytest.mark.s3
def test_what_a_local_run_published_is_read_after_its_server_has_ended(work: Work, tmp_path: Path) -> None:
    import os

    from components.core.services import seaweedfs
    from components.core.services.supervisor import supervise

    before = {name: os.environ.get(name) for name in ("GAVEL_S3_ENDPOINT", "AWS_SECRET_ACCESS_KEY")}
    published = Path(work.publish(tmp_path / "store").removeprefix("file://"))
    key = f"tiny-workflow/train-grpo/{IDENTITY}/c0ffee"
    with supervise(work.state) as manager:
        variables = seaweedfs.start(work.state, manager=manager)
        os.environ.update(variables)
        try:
            store = Store.open(f"s3://{seaweedfs.BUCKET}")
            store.upload(published, key)
        finally:
            for name in variables:
                os.environ.pop(name, None)
    runlog.append(work.state, runlog.StepLine("train-grpo", "ran", IDENTITY, 1.0, uri=f"s3://{seaweedfs.BUCKET}/{key}"))
    work.folder.rename(tmp_path / "away")
    found = Watched("tiny_workflow", work.state).look()
    assert (found.stand.kind, len(found.samples)) == (Kind.PUBLISHED, 8)
    assert {name: os.environ.get(name) for name in before} == before
    with supervise(work.state) as manager:
        assert manager.running() == []


def test_analyze_prints_tables_and_writes_them(work: Work, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(work.folder), "--csv", str(tmp_path / "csv"), "--steps", "1"]) == 0
    told = lines(capsys.readouterr().out)
    assert any(line.startswith("all 4 2 25.0 % [") for line in told)
    names = ["cost.csv", "domains.csv", "operators.csv", "ranges.csv", "reasons.csv"]
    assert sorted(path.name for path in (tmp_path / "csv").iterdir()) == names
    assert main(["analyze", str(work.folder), "--steps", "7-9"]) == 1
    assert "no response of these steps" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--every", "0"], ["--last", "0"], ["--last", "x"]])
def test_wrong_settings_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(["live", "tiny", *arguments])


def test_whoever_reads_may_stop_reading(work: Work) -> None:
    command = [sys.executable, "-m", "components.monitor", "analyze", str(work.folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert b"Traceback" not in child.stderr.read()
    child.stderr.close()
    child.wait()


def test_an_experiment_that_this_code_cannot_read_keeps_its_name(work: Work) -> None:
    settings = json.loads((work.folder / "reward.json").read_text())
    (work.folder / "reward.json").write_text(json.dumps({**settings, "experiment": '{"name": "x"}'}))
    found = WorkFolder(work.folder).look()
    assert (found.facts.name, found.facts.steps, len(found.samples)) == ("tiny-workflow", None, 8)
