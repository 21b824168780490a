"""The buffer as a published table, and the command that shows one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from workflow_buffer_parts import SCALE, TINY, AngleEmbedder, HashEmbedder, entry, program, spec

from components.core.errors import ConfigError, ContractError, GavelError, StorageError
from components.core.spec.workflow_buffer import BufferSpec
from components.core.store import Store
from components.core.store.files import FileStore
from components.workflow.__main__ import main
from components.workflow.buffer import cli
from components.workflow.buffer.buffer import ExperienceBuffer, Offered
from components.workflow.buffer.database import FILE
from components.workflow.buffer.embed import Embedder, build_embedder
from components.workflow.buffer.entry import Forbidden
from components.workflow.buffer.found import look
from components.workflow.buffer.store import INDEX, TABLE, fetch, publish, read_folder, restore, write_folder

NONE = Forbidden()


def opened(
    folder: Path, chosen: BufferSpec | None = None, forbidden: Forbidden = NONE, embedder: Embedder | None = None
) -> ExperienceBuffer:
    folder.mkdir(exist_ok=True)
    return ExperienceBuffer(folder, chosen or spec(), SCALE, forbidden, embedder or AngleEmbedder())


@pytest.fixture
def buffer(tmp_path: Path) -> ExperienceBuffer:
    """Three entries of math, the middle one of a later step, and one of code."""
    found = opened(tmp_path / "work")
    for number, (reward, step) in enumerate([(0.9, 1), (0.8, 7), (0.7, 3)]):
        found.offer(entry(f"sum {number} at {30 * number}", workflow=number, reward=reward, step=step))
    found.offer(entry("sort\x1b[2J it at 5", workflow=0, reward=0.6, domain="code"))
    return found


def test_what_is_published_comes_back_whole(buffer: ExperienceBuffer, tmp_path: Path) -> None:
    store = Store.open((tmp_path / "store").as_uri())
    index = publish(buffer, store, "run/train/buffer")
    found = fetch(store, "run/train/buffer")
    assert found.entries == buffer.entries()
    assert found.index == index
    for each in found.entries:
        assert each.embedding == pytest.approx(AngleEmbedder().embed([each.problem])[0])
    assert index["embedder"] == {"name": "angles", "version": "angles-1"}
    assert index["domains"]["math"] == {
        "entries": 3,
        "problems": 3,
        "best_reward": 0.9,
        "worst_reward": 0.7,
        "first_step": 1,
        "last_step": 7,
    }
    assert index["domains"]["qa"] == {"entries": 0}
    table = pq.read_table(tmp_path / "store/run/train/buffer" / TABLE)
    assert [index["entries"][row]["problem_id"] for row in range(4)] == table["problem_id"].to_pylist()


def test_an_empty_buffer_can_be_published(tmp_path: Path) -> None:
    with opened(tmp_path / "work") as buffer:
        write_folder(buffer, tmp_path / "out")
    assert read_folder(tmp_path / "out").entries == []


def test_a_training_begins_with_another_one_s_buffer(buffer: ExperienceBuffer, tmp_path: Path) -> None:
    """By its own rules, and seen from the first step on."""
    write_folder(buffer, tmp_path / "out")
    asked = HashEmbedder()
    asked.version = AngleEmbedder.version
    forbidden = Forbidden.of([("x", "sum 1 at 30")])
    with opened(tmp_path / "next", spec(threshold=0.84), forbidden, asked) as other:
        outcomes = restore(other, read_folder(tmp_path / "out"))
        assert outcomes == {Offered.KEPT: 2, Offered.TEST_PROBLEM: 1, Offered.BELOW_THRESHOLD: 1}
        other.forget_after(0)
        assert [(each.problem, each.step) for each in other.at(1).entries()] == [("sum 0 at 0", 0), ("sum 2 at 60", 0)]
        # The same embedder made their vectors; none is made again.
        other.embedded(other.entries())
        assert asked.asked == []


def damaged_table(folder: Path) -> None:
    data = bytearray((folder / TABLE).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / TABLE).write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("damage", "error", "told"),
    [
        (damaged_table, ContractError, r"the table has sha256 .*buffer\.parquet"),
        (lambda folder: (folder / TABLE).unlink(), StorageError, r"not there(.|\n)*buffer\.parquet"),
        (lambda folder: (folder / INDEX).unlink(), StorageError, r"not there(.|\n)*index\.json"),
        (lambda folder: (folder / INDEX).write_text("{"), ContractError, r"the index is no JSON(.|\n)*index\.json"),
        (lambda folder: (folder / INDEX).write_text("[]"), ContractError, r"no index of a buffer"),
    ],
    ids=["a bit", "no table", "no index", "half an index", "another index"],
)
def test_damage_is_told(
    buffer: ExperienceBuffer, tmp_path: Path, damage: object, error: type[GavelError], told: str
) -> None:
    write_folder(buffer, tmp_path / "out")
    damage(tmp_path / "out")  # type: ignore[operator]
    with pytest.raises(error, match=f"(?s){told}"):
        read_folder(tmp_path / "out")


def test_a_later_format_is_told(buffer: ExperienceBuffer, tmp_path: Path) -> None:
    index = write_folder(buffer, tmp_path / "out")
    (tmp_path / "out" / INDEX).write_text(json.dumps({**index, "format": 2}))
    with pytest.raises(StorageError, match="format 2"):
        read_folder(tmp_path / "out")


class TestLook:
    def test_in_a_work_folder_and_in_what_was_published(self, buffer: ExperienceBuffer, tmp_path: Path) -> None:
        wanted = buffer.entries()
        publish(buffer, Store.open((tmp_path / "store").as_uri()), "run/train-grpo/1/buffer")
        work = tmp_path / "work"
        published = tmp_path / "store" / "run"
        for place in (work, work / FILE, published, published / "train-grpo/1/buffer" / TABLE):
            assert look(str(place)).entries == wanted
        assert look(published.as_uri()).entries == wanted
        assert [each.problem for each in look(str(work), step=4).entries] == [
            *("sum 0 at 0", "sum 2 at 60"),
            "sort\x1b[2J it at 5",
        ]

    def test_in_a_store_that_is_not_on_this_machine(
        self, buffer: ExperienceBuffer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In what was published, and in a checkpoint."""
        monkeypatch.setattr(FileStore, "local_path", lambda *_: None)
        store = Store.open((tmp_path / "store").as_uri())
        publish(buffer, store, "published/buffer")
        store.write_bytes(f"checkpoints/global_step_2/work/{FILE}", (tmp_path / "work" / FILE).read_bytes())
        for place in ("published", "checkpoints/global_step_2"):
            found = look(store.uri(place))
            assert found.entries == buffer.entries()
            assert found.where.startswith(store.uri(place))

    def test_what_counted_when_it_was_last_opened(self, buffer: ExperienceBuffer, tmp_path: Path) -> None:
        opened(tmp_path / "work", spec(capacity=1)).close()
        assert [each.problem for each in look(str(tmp_path / "work")).entries] == ["sum 0 at 0", "sort\x1b[2J it at 5"]

    def test_none_and_several_are_told(self, buffer: ExperienceBuffer, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(StorageError, match="no experience buffer"):
            look(str(tmp_path / "empty"))
        for name in ("a", "b"):
            write_folder(buffer, tmp_path / "both" / name)
        with pytest.raises(StorageError, match=r"2 buffers lie here:\n  a\n  b"):
            look(str(tmp_path / "both"))


class TestCommand:
    def test_what_it_holds(self, buffer: ExperienceBuffer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["buffer", str(tmp_path / "work"), "--top", "2"]) == 0
        out = capsys.readouterr().out
        rows = {
            line.split()[0]: line.split() for line in out.splitlines() if line.startswith(("math ", "qa ", "code "))
        }
        assert rows["math"] == ["math", "3", "100", "3", "0.7000", "to", "0.9000", "1", "to", "7"]
        assert rows["qa"] == ["qa", "0", "100"]
        assert "math, the best 2 of 3" in out
        assert "sum 0 at 0" in out
        assert "sum 2 at 60" not in out
        # What a terminal would obey is shown and not sent.
        assert "\x1b" not in out
        assert "sort\\x1b[2J it" in out
        assert "class Workflow" not in out

    def test_similar_ones(self, buffer: ExperienceBuffer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        arguments = [str(tmp_path / "work"), "--domain", "math", "--problem", "query at 60", "--top", "2", "--show"]
        assert cli.main(arguments, AngleEmbedder()) == 0
        lines = [line for line in capsys.readouterr().out.splitlines() if " at " in line]
        assert [line.split()[:2] for line in lines] == [["1.0000", "0.7000"], ["0.8660", "0.8000"]]

    def test_with_the_embedder_that_the_buffer_was_opened_with(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
        chosen = spec(embedder=TINY)
        with opened(
            tmp_path / "work", chosen, embedder=build_embedder(TINY, tmp_path / "state/cache/models")
        ) as buffer:
            buffer.offer(entry("one and one", workflow=1))
            ((_, cosine),) = buffer.similar("two and two", "math")
        assert main(["buffer", str(tmp_path / "work"), "--problem", "two and two"]) == 0
        assert f"{cosine:.4f}" in capsys.readouterr().out

    def test_the_program(self, buffer: ExperienceBuffer, tmp_path: Path) -> None:
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-m", "components.workflow", "buffer"]
        environment = {**os.environ, "PYTHONPATH": root}
        shown = subprocess.run(
            [*command, str(tmp_path / "work"), "--show"], capture_output=True, text=True, env=environment, check=True
        )
        assert program(2).splitlines()[1] in shown.stdout
        failed = subprocess.run(
            [*command, str(tmp_path / "no")], capture_output=True, text=True, env=environment, check=False
        )
        assert failed.returncode == 1
        assert failed.stderr.startswith("error: there is no experience buffer")
        assert "Traceback" not in failed.stderr

    def test_arguments_that_cannot_be(self, buffer: ExperienceBuffer, tmp_path: Path) -> None:
        for wrong in (["--top", "-1"], ["--problem", " "]):
            with pytest.raises(ConfigError):
                cli.main([str(tmp_path / "work"), *wrong])
