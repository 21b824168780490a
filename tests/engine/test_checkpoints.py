"""Which checkpoint a killed run goes on from."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from components.engine.checkpoints import MARK, prepare_resume, whole_steps

TRACKER = "latest_checkpointed_iteration.txt"


def checkpoint(folder: Path, step: int, whole: bool) -> None:
    (folder / f"global_step_{step}" / "actor").mkdir(parents=True)
    if whole:
        (folder / f"global_step_{step}" / MARK).write_text("{}")


def test_a_fresh_run_starts_from_nothing(tmp_path: Path):
    assert prepare_resume(tmp_path / "new") == 0


def test_half_a_checkpoint_is_removed_and_the_one_before_taken(tmp_path: Path):
    checkpoint(tmp_path, 5, whole=True)
    checkpoint(tmp_path, 10, whole=False)
    (tmp_path / TRACKER).write_text("10")
    assert prepare_resume(tmp_path) == 5
    assert (tmp_path / TRACKER).read_text() == "5"
    assert not (tmp_path / "global_step_10").exists()


def test_a_tracker_that_was_not_written_yet_does_not_lose_a_whole_checkpoint(tmp_path: Path):
    checkpoint(tmp_path, 5, whole=True)
    checkpoint(tmp_path, 10, whole=True)
    (tmp_path / TRACKER).write_text("5")
    assert prepare_resume(tmp_path) == 10


def test_only_a_broken_first_checkpoint_means_a_fresh_start(tmp_path: Path):
    checkpoint(tmp_path, 5, whole=False)
    (tmp_path / TRACKER).write_text("5")
    assert prepare_resume(tmp_path) == 0
    assert not (tmp_path / TRACKER).exists()


@given(st.dictionaries(st.integers(1, 2000), st.booleans(), max_size=6))
def test_the_newest_whole_checkpoint_always_wins(found: dict[int, bool]):
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for step, whole in found.items():
            checkpoint(folder, step, whole)
        whole_ones = sorted(step for step, whole in found.items() if whole)
        assert prepare_resume(folder) == (whole_ones[-1] if whole_ones else 0)
        assert whole_steps(folder) == whole_ones
