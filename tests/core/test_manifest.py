"""Manifests: what they list, that they survive writing, and that damage is seen."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.core.manifest import FileEntry, GitState, InputRef, Manifest, content_sha256, scan_folder

HASH = "0" * 64
names = st.from_regex(r"[a-zA-Z0-9 _é\-]{1,12}(/[a-zA-Z0-9 _é\-]{1,12}){0,2}", fullmatch=True)
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
entries = st.builds(FileEntry, path=names, size=st.integers(0, 2**60), sha256=hashes)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
manifests = st.builds(
    Manifest,
    files=st.lists(entries, max_size=5).map(tuple),
    step=st.text(),
    identity=hashes,
    depends=st.dictionaries(st.text(), scalars, max_size=3),
    inputs=st.dictionaries(st.text(), st.builds(InputRef, uri=st.text(), sha256=hashes), max_size=3),
    rows=st.dictionaries(st.text(), st.integers(0, 2**40), max_size=3),
    metadata=st.dictionaries(st.text(), scalars, max_size=4),
    git=st.one_of(st.none(), st.builds(GitState, revision=st.text(), dirty=st.booleans())),
)


@given(manifests)
def test_round_trip(manifest: Manifest) -> None:
    assert Manifest.from_bytes(manifest.to_bytes(), "x") == manifest


@given(st.lists(entries, max_size=6), st.randoms())
def test_content_hash_does_not_depend_on_order(files: list[FileEntry], random: object) -> None:
    shuffled = list(files)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert len({e.path for e in files}) < len(files) or content_sha256(files) == content_sha256(shuffled)


@given(st.lists(entries, min_size=1, max_size=4, unique_by=lambda e: e.path), st.data())
def test_content_hash_changes_with_any_field(files: list[FileEntry], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(files) - 1))
    entry = files[index]
    change = data.draw(
        st.sampled_from(
            [
                {"size": entry.size + 1},
                {"path": entry.path + "x"},
                {"sha256": HASH if entry.sha256 != HASH else "1" * 64},
            ]
        )
    )
    changed = [*files[:index], entry.model_copy(update=change), *files[index + 1 :]]
    assert content_sha256(changed) != content_sha256(files)


def test_no_name_can_imitate_another_entry() -> None:
    one = [FileEntry(path=f'a"\n{HASH} 1 "b', size=1, sha256=HASH)]
    two = [FileEntry(path="a", size=1, sha256=HASH), FileEntry(path="b", size=1, sha256=HASH)]
    assert content_sha256(one) != content_sha256(two)


@given(st.dictionaries(names.filter(lambda n: "/" not in n), st.binary(max_size=300), min_size=1, max_size=5))
def test_scan_gives_the_hashes_of_an_independent_reading(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("scan")
    (folder / "sub").mkdir()
    for name, content in files.items():
        (folder / "sub" / name).write_bytes(content)
    (folder / "manifest.json").write_text("{}")
    expected = {f"sub/{name}": (len(content), hashlib.sha256(content).hexdigest()) for name, content in files.items()}
    assert {entry.path: (entry.size, entry.sha256) for entry in scan_folder(folder)} == expected


def test_linked_file_counts_and_linked_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"abc")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "real")
    assert [(entry.path, entry.size) for entry in scan_folder(folder)] == [("link", 3)]
    (folder / "folder").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(ContractError, match="real folder"):
        scan_folder(folder)


def test_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ContractError) as caught:
        scan_folder(tmp_path)
    assert "pipe" in caught.value.where


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"files": [{"path": "a", "size": -1, "sha256": "%s"}]}' % HASH.encode(),
        b'{"files": [], "odd": 1}',
    ],
)
def test_damaged_manifest_names_where(data: bytes) -> None:
    with pytest.raises(ContractError) as caught:
        Manifest.from_bytes(data, "s3://b/x/manifest.json")
    assert caught.value.where == "s3://b/x/manifest.json"


def test_missing_manifest(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no manifest"):
        Manifest.read(tmp_path)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_number_without_a_word_in_json_is_refused_not_turned_into_null(number: float) -> None:
    with pytest.raises(ContractError, match="not to be written"):
        Manifest(files=(), metadata={"loss": number}).to_bytes()
