"""What a run left is read while the store that the run started still answers."""

import os
from pathlib import Path

import pytest

from components.core.errors import StorageError
from components.core.spec import load_experiment
from components.core.step import runlog
from components.core.store import Store
from pipelines.local import run_graph


@pytest.mark.s3
def test_results_in_the_embedded_store_are_there_inside_the_run_and_not_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a run puts into the environment is taken back with the test.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    experiment = load_experiment("tiny", ["cluster=local-cpu", "cluster.memory_gib=1", "cluster.disk_gib=1"])
    assert experiment.cluster.store.kind == "embedded_s3"

    def launch(store: str) -> None:
        opened = Store.open(store)
        opened.write_bytes("tiny/report/one/report.html", b"<html>")
        uri = f"{opened.url}/tiny/report/one"
        runlog.append(tmp_path / "state", runlog.StepLine("report", "ran", "i", 1.0, uri=uri))

    with run_graph(experiment, ("report",), launch) as ran:
        assert ran.read("report", "report.html") == b"<html>"
    with pytest.raises(StorageError):
        ran.read("report", "report.html")
