"""Keys and URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import StorageError
from components.core.store import Store
from components.core.store.keys import check_key, join, join_url, split_file_url, split_s3_url, split_uri


@given(st.text(max_size=30))
def test_no_key_climbs_out_of_its_store(key: str) -> None:
    try:
        parts = check_key(key).split("/")
    except StorageError:
        return
    assert all(part not in ("", ".", "..") for part in parts)


@pytest.mark.parametrize("key", ["", "/a", "a//b", "../a", "a/..", "a/./b", "a/", "a\\b", "a\x00"])
def test_bad_keys(key: str) -> None:
    with pytest.raises(StorageError, match="not a key"):
        check_key(key)


def test_folder_keys_may_end_in_a_slash_or_be_empty() -> None:
    assert check_key("a/b/", folder=True) == "a/b"
    assert check_key("", folder=True) == ""


@pytest.mark.parametrize(
    ("url", "expected"), [("s3://abc", ("abc", "")), ("s3://abc/", ("abc", "")), ("s3://a.b-c/x/y/", ("a.b-c", "x/y"))]
)
def test_s3_urls(url: str, expected: tuple[str, str]) -> None:
    assert split_s3_url(url) == expected


@pytest.mark.parametrize("url", ["s3://", "s3:///x", "s3://A_b/x", "s3://ab/x", "s3://abc/../x"])
def test_bad_s3_urls(url: str) -> None:
    with pytest.raises(StorageError):
        split_s3_url(url)


def test_file_urls() -> None:
    assert split_file_url("file:///a/b%20c") == "/a/b c"
    assert split_file_url("/a/b") == "/a/b"
    for url in ("file://host/a", "file:a", "file://"):
        with pytest.raises(StorageError, match="not an absolute file URL"):
            split_file_url(url)


def test_unknown_scheme_says_which_there_are() -> None:
    with pytest.raises(StorageError) as caught:
        Store.open("gs://bucket/x")
    assert "s3://" in caught.value.remedy


def test_joining() -> None:
    assert join("a/", "", "/b", "c") == "a/b/c"
    assert join_url("s3://b/p/", "x/y") == "s3://b/p/x/y"
    assert join_url("file:///a", "") == "file:///a"
    assert split_uri("s3://b/p/x/") == ("s3://b/p", "x")
