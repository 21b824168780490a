"""Figures of a training for KFP's table of metrics."""

from pathlib import Path

from components.core.contracts import METRICS, write_table
from components.core.manifest import MANIFEST_NAME, Manifest, scan_folder
from components.train.figures import end_points, training_figures


def test_first_and_last_step_of_each_known_metric():
    rows = {
        (1, "critic/score/mean"): 0.25,
        (2, "critic/score/mean"): 0.5,
        (10, "critic/score/mean"): 0.75,
        (3, "actor/kl_loss"): 0.125,
        (10, "timing_s/step"): 9.0,
    }
    assert end_points(rows) == {
        "first_critic_score_mean": 0.25,
        "last_critic_score_mean": 0.75,
        "first_actor_kl_loss": 0.125,
        "last_actor_kl_loss": 0.125,
    }
    assert end_points({}) == {}


def test_a_published_training_is_read(tmp_path: Path):
    folder = tmp_path / "store" / "train" / "content"
    folder.mkdir(parents=True)
    rows = [{"step": step, "name": "critic/score/mean", "value": step / 4} for step in (1, 3)]
    write_table(folder / "metrics.parquet", rows, METRICS)
    manifest = Manifest(files=tuple(scan_folder(folder)))
    (folder / MANIFEST_NAME).write_bytes(manifest.to_bytes())
    assert training_figures(folder.as_uri()) == {"first_critic_score_mean": 0.25, "last_critic_score_mean": 0.75}
