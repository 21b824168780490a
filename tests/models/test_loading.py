"""A model folder is loaded whole, or not at all."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from components.core.errors import StepError
from components.core.spec.source import TinySource
from components.models.loading import check_model, load_model
from components.models.materialize import materialize
from components.models.weight_files import weight_files

Weights = dict[str, torch.Tensor]
BOTH = pytest.mark.parametrize("read", [load_model, check_model])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return materialize(TinySource(kind="tiny", seed=3), tmp_path_factory.mktemp("cache"))


@pytest.fixture
def folder(tmp_path: Path, tiny: Path) -> Path:
    return shutil.copytree(tiny, tmp_path / "model")


def rewrite(folder: Path, change: Callable[[Weights], Weights]) -> None:
    path = folder / "model.safetensors"
    weights = change(load_file(path))
    # What was read is a map of the file, which must not change under it.
    path.unlink()
    save_file(weights, path, metadata={"format": "pt"})


def split(folder: Path) -> dict[str, str]:
    """Two files and their index, as large models have them."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    places = {name: f"model-0000{1 + number % 2}-of-00002.safetensors" for number, name in enumerate(sorted(weights))}
    for file in set(places.values()):
        part = {name: weights[name] for name in weights if places[name] == file}
        save_file(part, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return places


def test_a_whole_model_is_what_transformers_loads(folder: Path):
    expected = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).state_dict()
    split(folder)
    check_model(folder)
    found = load_model(folder)
    assert not found.training
    assert all(torch.equal(tensor, expected[name]) for name, tensor in found.state_dict().items())


@BOTH
def test_missing_weights_are_named(folder: Path, read):
    rewrite(folder, lambda weights: {name: tensor for name, tensor in weights.items() if ".mlp." not in name})
    with pytest.raises(StepError, match=r"missing: 6 tensors \(model\.layers\.0\.mlp\.down_proj\.weight") as caught:
        read(folder)
    assert caught.value.where == str(folder)


@BOTH
def test_renamed_weights_are_missing_and_not_known(folder: Path, read):
    rewrite(folder, lambda weights: {f"foo.{name}": tensor for name, tensor in weights.items()})
    with pytest.raises(StepError, match=r"missing: 27 tensors.*not known to the model: 26 tensors \(foo\."):
        read(folder)


@BOTH
def test_one_weight_too_many_is_another_architecture(folder: Path, read):
    rewrite(folder, lambda weights: {**weights, "model.layers.0.self_attn.o_proj.bias": torch.ones(64)})
    with pytest.raises(
        StepError, match=r"not known to the model: 1 tensors \(model\.layers\.0\.self_attn\.o_proj\.bias"
    ):
        read(folder)


@BOTH
def test_another_shape_is_told_with_both(folder: Path, read):
    rewrite(folder, lambda weights: {**weights, "model.norm.weight": torch.ones(32)})
    with pytest.raises(StepError, match=r"of another shape: .*model\.norm\.weight \(file \[32\], model \[64\]\)"):
        read(folder)


@BOTH
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(folder: Path, read, value: float):
    def spoil(weights: Weights) -> Weights:
        weights["model.norm.weight"][3] = value
        return weights

    rewrite(folder, spoil)
    with pytest.raises(StepError, match=r"1 tensors \(model\.norm\.weight\) hold NaN or infinite"):
        read(folder)


@BOTH
def test_what_the_architecture_leaves_out_is_not_missing(tmp_path: Path, read):
    """Llama's old files hold the rotary frequencies; a tied head is in no file."""
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    rewrite(tmp_path, lambda weights: {**weights, "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)})
    read(tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")


def test_a_head_that_is_not_tied_is_missing(folder: Path):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
    with pytest.raises(StepError, match=r"missing: 1 tensors \(lm_head\.weight\)"):
        load_model(folder)


@BOTH
@pytest.mark.parametrize("share", [0.0, 1e-5, 0.5, 0.999])
def test_a_file_that_was_cut_short(folder: Path, read, share: float):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(StepError, match=r"not whole: model\.safetensors is a file of \d+ bytes") as caught:
        read(folder)
    assert caught.value.where == str(path)
    assert "again" in caught.value.remedy


def test_a_header_of_nonsense(folder: Path):
    (folder / "model.safetensors").write_bytes((5).to_bytes(8, "little") + b"[1,2]")
    with pytest.raises(StepError, match="header that cannot be read"):
        weight_files(folder)


def test_a_part_that_is_missing_empty_or_another(folder: Path):
    places = split(folder)
    assert [path.name for path in weight_files(folder)] == sorted(set(places.values()))
    first, second = weight_files(folder)
    whole = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.raises(StepError, match="13 weights are not in the file that the index names"):
        weight_files(folder)
    first.write_bytes(whole[:-1])
    with pytest.raises(StepError, match="it was cut short"):
        weight_files(folder)
    first.unlink()
    with pytest.raises(StepError, match=r"of 2 files .* 1 are missing: \['model-00001-of-00002"):
        weight_files(folder)


def test_an_index_that_cannot_be_read(folder: Path):
    split(folder)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a"')
    with pytest.raises(StepError, match=r"index\.json is a file that cannot be read"):
        weight_files(folder)


@BOTH
def test_pickled_weights(folder: Path, read):
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    torch.save(weights, path)
    read(folder)
    whole = path.read_bytes()
    for size in (0, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(StepError, match=rf"pytorch_model\.bin is a file of {size} bytes"):
            read(folder)


@BOTH
def test_no_weights_and_no_known_architecture(folder: Path, read):
    (folder / "config.json").write_text('{"model_type": "none-of-them"}')
    with pytest.raises(StepError, match=r"cannot be loaded: .*none-of-them"):
        read(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(StepError, match="no weights"):
        read(folder)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16, torch.float16])
def test_small_types_are_checked_and_quantised_names_are_not(folder: Path, dtype: torch.dtype):
    """Quantisers name and pack weights in ways of their own."""
    config = json.loads((folder / "config.json").read_text())
    quantised = {**config, "quantization_config": {"quant_method": "fp8"}}
    (folder / "config.json").write_text(json.dumps(quantised))
    extra = torch.ones(4)
    for value in (1.0, torch.nan):
        extra[2] = value
        packed = {"a.scale": extra.to(dtype), "a.packed": torch.ones(3, dtype=torch.uint8)}
        rewrite(folder, lambda weights, packed=packed: {**weights, **packed})
        if value == 1.0:
            check_model(folder)
    with pytest.raises(StepError, match=r"1 tensors \(a\.scale\) hold NaN"):
        check_model(folder)
