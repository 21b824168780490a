"""Models of a store: fetched once, checked, and gone on with after an interruption."""

import shutil
from pathlib import Path

import pytest

from components.core.errors import GavelError, StorageError
from components.core.manifest import MANIFEST_NAME
from components.core.spec.source import TinySource, UriSource
from components.core.store import Store
from components.core.store.files import FileStore
from components.models.from_store import fetched_folder
from components.models.materialize import materialize, on_this_machine


@pytest.fixture
def model(tmp_path: Path) -> Path:
    made = materialize(TinySource(kind="tiny", seed=1), tmp_path / "made")
    return Path(shutil.copytree(made, tmp_path / "model", ignore=shutil.ignore_patterns("complete.json")))


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileStore:
    """A store that does not lie on this machine, as far as anybody can tell."""
    store = FileStore((tmp_path / "bucket").as_uri())
    monkeypatch.setattr(FileStore, "local_path", lambda self, key: None)
    return store


def _source(store: Store, key: str, sha256: str | None = None) -> UriSource:
    return UriSource(kind="uri", uri=store.uri(key), sha256=sha256)


def _plain(store: FileStore, key: str, model: Path) -> None:
    for path in model.iterdir():
        store.write_bytes(f"{key}/{path.name}", path.read_bytes())


def test_a_published_model_is_fetched_once(remote: FileStore, model: Path, tmp_path: Path) -> None:
    remote.upload(model, "runs/a")
    source = _source(remote, "runs/a", remote.manifest("runs/a").sha256)
    folder = materialize(source, tmp_path / "cache")
    assert (folder / "config.json").read_bytes() == (model / "config.json").read_bytes()
    # The same size and another content: it would be told if it were fetched.
    weights = remote.root / "runs" / "a" / "model.safetensors"
    weights.write_bytes(bytes(weights.stat().st_size))
    assert materialize(source, tmp_path / "cache") == folder
    # Known by its content, so that nobody has to be asked.
    assert fetched_folder(source, tmp_path / "cache") == folder
    assert on_this_machine(_source(remote, "runs/a"), None) is None


def test_a_folder_that_was_such_a_copy_itself_counts_as_whole(remote: FileStore, model: Path, tmp_path: Path) -> None:
    (model / "complete.json").write_text("{}")
    remote.upload(model, "runs/a")
    source = _source(remote, "runs/a", remote.manifest("runs/a").sha256)
    folder = materialize(source, tmp_path / "cache")
    assert fetched_folder(source, tmp_path / "cache") == folder


def test_the_model_inside_a_published_folder_is_found(remote: FileStore, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "out" / "model")
    remote.upload(tmp_path / "out", "merged")
    folder = materialize(_source(remote, "merged"), tmp_path / "cache")
    assert folder.name == "model"
    assert (folder / "config.json").is_file()


def test_another_content_than_asserted_is_refused(remote: FileStore, model: Path, tmp_path: Path) -> None:
    remote.upload(model, "runs/a")
    with pytest.raises(GavelError, match="another content than asserted"):
        materialize(_source(remote, "runs/a", "a" * 64), tmp_path / "cache")


def test_a_plain_folder_is_fetched_too_and_again_when_it_changed(
    remote: FileStore, model: Path, tmp_path: Path
) -> None:
    _plain(remote, "plain", model)
    first = materialize(_source(remote, "plain"), tmp_path / "cache")
    assert {path.name for path in model.iterdir()} <= {path.name for path in first.iterdir()}
    remote.write_bytes("plain/further.txt", b"x")
    assert materialize(_source(remote, "plain"), tmp_path / "cache") != first


def test_a_corrupted_file_is_told_and_leaves_nothing_whole(remote: FileStore, model: Path, tmp_path: Path) -> None:
    remote.upload(model, "runs/a")
    path = remote.root / "runs" / "a" / "config.json"
    path.write_bytes(path.read_bytes().replace(b"2", b"3"))
    with pytest.raises(StorageError, match=r"config\.json"):
        materialize(_source(remote, "runs/a"), tmp_path / "cache")
    remote.delete("runs/a")
    remote.upload(model, "runs/a")
    folder = materialize(_source(remote, "runs/a"), tmp_path / "cache")
    assert (folder / "config.json").read_bytes() == (model / "config.json").read_bytes()


def test_an_interrupted_fetch_goes_on(remote: FileStore, model: Path, tmp_path: Path) -> None:
    remote.upload(model, "runs/a")
    broken = remote.root / "runs" / "a" / "tokenizer.json"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-1] + b"?")
    with pytest.raises(StorageError, match="tokenizer"):
        materialize(_source(remote, "runs/a"), tmp_path / "cache")
    broken.write_bytes(whole)
    (scratch,) = (tmp_path / "cache").glob(".store-*.fetching")
    came = [path.name for path in scratch.iterdir() if not path.name.startswith(".") and path.name != MANIFEST_NAME]
    assert came
    # What had come stays: what lies in the store by now is not looked at again.
    for name in came:
        data = (remote.root / "runs" / "a" / name).read_bytes()
        (remote.root / "runs" / "a" / name).write_bytes(bytes(len(data)))
    folder = materialize(_source(remote, "runs/a"), tmp_path / "cache")
    assert all((folder / path.name).read_bytes() == path.read_bytes() for path in model.iterdir())


def test_a_folder_of_this_machine_is_used_where_it_lies(model: Path, tmp_path: Path) -> None:
    source = UriSource(kind="uri", uri=model.as_uri())
    assert materialize(source, tmp_path / "cache") == model.resolve()
    assert not (tmp_path / "cache").exists()
    assert on_this_machine(source, tmp_path) == model
    assert on_this_machine(UriSource(kind="uri", uri=f"{model.as_uri()}-gone"), tmp_path) is None


def test_nothing_there_and_no_model_there(remote: FileStore, tmp_path: Path) -> None:
    with pytest.raises(GavelError, match="nothing at this URL"):
        materialize(_source(remote, "gone"), tmp_path / "cache")
    remote.write_bytes("text/readme.txt", b"x")
    with pytest.raises(GavelError, match=r"config\.json is missing"):
        materialize(_source(remote, "text"), tmp_path / "cache")
    assert not remote.exists(f"text/{MANIFEST_NAME}")
