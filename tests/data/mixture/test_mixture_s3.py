"""Sources in a real S3 store, as on a cluster: read by their URLs, checked by their hashes, published there again."""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.core.errors import ContractError
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId
from components.core.spec import Experiment, load_experiment
from components.core.step.execute import perform
from components.core.store import Store
from components.data.step import STEP

SMALL = Path(__file__).parents[3] / "configs" / "datasets" / "mixed-small"
FILES = {
    "squad2": ("squad2_train.json", "squad2_dev.json"),
    "hotpotqa": ("hotpotqa_train.json", "hotpotqa_dev.json"),
    "gsm8k": ("gsm8k_train.jsonl", "gsm8k_test.jsonl"),
}

pytestmark = pytest.mark.s3


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    state = tmp_path_factory.mktemp("s3-state")
    manager = ServiceManager(state, ProcessId.current())
    try:
        yield seaweedfs.start(state, manager=manager)
    finally:
        manager.end_all()


@pytest.fixture
def bucket(server: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    for name, value in server.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    return f"s3://{seaweedfs.BUCKET}/{tmp_path.name}"


def uploaded(bucket: str, name: str, content: bytes) -> dict[str, str]:
    Store.open(bucket).write_bytes(f"data/{name}", content)
    return {"path": f"{bucket}/data/{name}", "sha256": hashlib.sha256(content).hexdigest()}


def archive() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for part in ("train", "test"):
            for number, line in enumerate((SMALL / f"math_{part}.jsonl").read_bytes().splitlines()):
                member = tarfile.TarInfo(f"MATH/{part}/algebra/{number}.json")
                member.size = len(line)
                tar.addfile(member, io.BytesIO(line))
    return packed.getvalue()


def experiment(sources: dict[str, object]) -> Experiment:
    mixture = {"sources": sources, "weights": {"math": 4, "qa": 3, "code": 0}, "validation_share": 0.2}
    data = {"name": "stored", "kind": "mixture", "heldout_rows": 9, "mixture": mixture}
    return load_experiment("tiny", (f"data={json.dumps(data)}", "reward=rule-only"))


def test_sources_in_the_store_give_what_the_same_files_here_give(bucket: str, tmp_path: Path) -> None:
    stored: dict[str, object] = {
        name: {
            part: [uploaded(bucket, file, (SMALL / file).read_bytes())]
            for part, file in zip(("train", "test"), files, strict=True)
        }
        for name, files in FILES.items()
    }
    packed = archive()
    (tmp_path / "MATH.tar.gz").write_bytes(packed)
    stored["math"] = {"train": [uploaded(bucket, "MATH.tar.gz", packed)]}
    here: dict[str, object] = {
        name: {part: [{"path": str(SMALL / file)}] for part, file in zip(("train", "test"), files, strict=True)}
        for name, files in FILES.items()
    }
    here["math"] = {"train": [{"path": str(tmp_path / "MATH.tar.gz")}]}
    # Where a file lies is no part of what was made of it: its content is.
    assert experiment(stored).data_identity() == experiment(here).data_identity()

    published = perform(STEP, experiment(stored), bucket, {})
    local = perform(STEP, experiment(here), (tmp_path / "store").as_uri(), {})
    folder, theirs = Store.open(published.uri), Store.open(local.uri)
    for name in (
        "train.parquet",
        "heldout.parquet",
        "tests/math.parquet",
        "tests/squad2.parquet",
        "tests/mixed.parquet",
    ):
        assert folder.read_bytes(name) == theirs.read_bytes(name)
    info = json.loads(folder.read_bytes("info.json"))
    assert {each["source"] for each in info["inputs"]} == {
        f"{bucket}/data/{name}" for name in ("MATH.tar.gz", *(file for files in FILES.values() for file in files))
    }
    assert perform(STEP, experiment(stored), bucket, {}).reused


@pytest.mark.parametrize(
    ("change", "told"),
    [({"sha256": "0" * 64}, "the experiment names 0000"), ({"path": "none.jsonl"}, "there is no such file")],
)
def test_another_content_and_no_content_are_refused(bucket: str, change: dict[str, str], told: str) -> None:
    file = uploaded(bucket, "gsm8k_train.jsonl", (SMALL / "gsm8k_train.jsonl").read_bytes())
    if "path" in change:
        change = {"path": f"{bucket}/data/{change['path']}"}
    sources: dict[str, object] = {"gsm8k": {"train": [{**file, **change}]}, "squad2": {"train": [file]}}
    with pytest.raises(ContractError, match=told):
        perform(STEP, experiment(sources), bucket, {})
