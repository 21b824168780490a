"""What counts as a checkpoint, and what is said of a folder that is none."""

import json
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from components.checkpoint.locate import locate
from components.core.errors import StepError


def shards(folder: Path, world: int = 1, ranks: tuple[int, ...] = (0,)) -> Path:
    (folder / "huggingface").mkdir(parents=True)
    (folder / "huggingface" / "config.json").write_text("{}")
    (folder / "fsdp_config.json").write_text("{}")
    for rank in ranks:
        with zipfile.ZipFile(folder / f"model_world_size_{world}_rank_{rank}.pt", "w") as archive:
            archive.writestr("data", "x")
    return folder


def model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    save_file({"weight": torch.ones(2)}, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("inside", ["", "actor", "checkpoint"])
def test_shards_are_found_where_verl_and_the_steps_put_them(tmp_path: Path, inside: str):
    place = shards(tmp_path / "global_step_4" / inside, 2, (0, 1))
    found = locate(tmp_path / "global_step_4")
    assert (found.folder, found.merged) == (place, False)


@pytest.mark.parametrize("inside", ["", "model"])
def test_a_model_is_merged_already(tmp_path: Path, inside: str):
    place = model(tmp_path / "m" / inside)
    found = locate(tmp_path / "m")
    assert (found.folder, found.merged) == (place, True)


def test_no_folder(tmp_path: Path):
    with pytest.raises(StepError, match="there is no such folder"):
        locate(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(StepError, match="is a file"):
        locate(tmp_path / "file")


def test_neither_shards_nor_model_names_the_newest_checkpoint_below(tmp_path: Path):
    for step in (2, 10):
        (tmp_path / f"global_step_{step}").mkdir()
    with pytest.raises(StepError, match="neither shards") as caught:
        locate(tmp_path)
    assert str(tmp_path / "global_step_10") in caught.value.remedy


def test_half_written_checkpoints(tmp_path: Path):
    shards(tmp_path / "a", 4, (0, 2))
    with pytest.raises(StepError, match=r"not whole: of 4 ranks the shards of \[1, 3\] are missing"):
        locate(tmp_path / "a")
    (shards(tmp_path / "b") / "model_world_size_1_rank_0.pt").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(StepError, match=r"not whole: model_world_size_1_rank_0\.pt was cut short"):
        locate(tmp_path / "b")
    (shards(tmp_path / "c") / "fsdp_config.json").unlink()
    with pytest.raises(StepError, match=r"not whole: it has no fsdp_config\.json"):
        locate(tmp_path / "c")
    (tmp_path / "global_step_6" / "actor").mkdir(parents=True)
    with pytest.raises(StepError, match="not whole: it has no shard"):
        locate(tmp_path / "global_step_6")


def test_shards_of_two_trainings_in_one_folder(tmp_path: Path):
    folder = shards(tmp_path / "a", 2, (0, 1))
    (folder / "model_world_size_1_rank_0.pt").write_bytes(b"")
    with pytest.raises(StepError, match="one world size are expected, found: 1, 2"):
        locate(folder)


def test_a_model_without_weights(tmp_path: Path):
    (model(tmp_path / "m") / "model.safetensors").unlink()
    with pytest.raises(StepError, match="no weights"):
        locate(tmp_path / "m")


@pytest.mark.parametrize("size", [0, 7, 40, -1])
def test_a_model_that_was_cut_short(tmp_path: Path, size: int):
    path = model(tmp_path / "m") / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(StepError, match=r"the model is not whole: model\.safetensors") as caught:
        locate(tmp_path / "m")
    assert (caught.value.where, bool(caught.value.remedy)) == (str(path), True)


def test_a_model_whose_index_names_a_file_that_is_missing(tmp_path: Path):
    path = model(tmp_path / "m") / "model.safetensors"
    path.rename(path.with_name("model-00001-of-00002.safetensors"))
    places = {"weight": "model-00001-of-00002.safetensors", "other": "model-00002-of-00002.safetensors"}
    path.with_name("model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    with pytest.raises(StepError, match="of 2 files of weights that the index names, 1 are missing"):
        locate(tmp_path / "m")
