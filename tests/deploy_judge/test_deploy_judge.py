"""Deploy, probe and tear down a real judge of the tiny model, as the pipeline does."""

import io
import json
from pathlib import Path

import pytest

from components.core.errors import JudgeError
from components.core.progress import Progress
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId
from components.core.spec import load_experiment
from components.core.step import StepContext
from components.deploy_judge.step import STEP as DEPLOY
from components.judge.endpoint import read_endpoint, resolve_endpoint
from components.probe_judge.step import STEP as PROBE
from components.teardown_judge.step import STEP as TEARDOWN


def context(state: Path, *overrides: str) -> tuple[StepContext, io.StringIO]:
    said = io.StringIO()
    experiment = load_experiment("tiny", overrides)
    return StepContext(experiment, {}, {}, state, state, "x" * 64, Progress("test", stream=said), state), said


@pytest.mark.slow
def test_a_judge_comes_up_once_answers_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    ctx, said = context(tmp_path, "cluster.cpu_threads=1")
    judge = ctx.experiment.judge
    with pytest.raises(JudgeError, match="not deployed"):
        PROBE.run(ctx)
    try:
        first = DEPLOY.run(ctx)
        record = read_endpoint(judge.name, tmp_path)
        assert record is not None
        assert record.process is not None
        process = ProcessId.parse(record.process)
        assert process.alive()
        assert first["url"] == resolve_endpoint(judge, tmp_path) == record.url
        # Again: the running one is adopted.
        assert DEPLOY.run(ctx) == first
        assert read_endpoint(judge.name, tmp_path) == record
        figures = PROBE.run(ctx)
        assert figures["model"] == judge.model_name
        assert figures["context"] == judge.context_tokens
        assert isinstance(figures["difference"], float)
        assert figures["difference"] < 1e-4
        assert json.dumps(dict(figures))
        assert "latency of one verdict" in said.getvalue()
        assert TEARDOWN.run(ctx) == {"judge": judge.name, "ended": True}
        assert not process.alive()
        assert TEARDOWN.run(ctx) == {"judge": judge.name, "ended": False}
        with pytest.raises(JudgeError, match="not deployed"):
            resolve_endpoint(judge, tmp_path)
    finally:
        ServiceManager(tmp_path).end_all()


def test_steps_act_on_the_world_and_depend_on_no_endpoint() -> None:
    assert [step.durable for step in (DEPLOY, PROBE, TEARDOWN)] == [False] * 3
    one, other = load_experiment("tiny"), load_experiment("tiny", ["judge.port=18999", "judge.timeout_seconds=61.0"])
    for step in (DEPLOY, PROBE, TEARDOWN):
        assert json.dumps(step.depends(one)) == json.dumps(step.depends(other))
        assert step.module == f"components.{step.name.replace('-', '_')}.step"
