"""A reply that is to go is gone at once, whether it was written or not, and stays gone."""

from pathlib import Path

import pytest

from components.judge.memory import Cache, CacheKey

KEY = CacheKey.of(judge="j", protocol="p/1", body=b"{}")
OTHER = CacheKey.of(judge="j", protocol="p/1", body=b"[]")


@pytest.mark.parametrize("written", [False, True])
def test_a_removed_reply_is_gone_now_and_after_opening_again(tmp_path: Path, written: bool) -> None:
    path = tmp_path / "cache"
    cache = Cache(path)
    cache.put(KEY, b"a reply")
    cache.put(OTHER, b"another")
    if written:
        cache.close()
        cache = Cache(path)
        assert cache.get(KEY) == b"a reply"
    cache.remove(KEY)
    assert cache.get(KEY) is None
    assert cache.get(OTHER) == b"another"
    cache.close()
    with Cache(path) as again:
        assert again.get(KEY) is None
        assert again.get(OTHER) == b"another"


def test_what_is_put_after_a_removal_stays(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with Cache(path) as cache:
        cache.put(KEY, b"old")
        cache.remove(KEY)
        cache.put(KEY, b"new")
        assert cache.get(KEY) == b"new"
    with Cache(path) as again:
        assert again.get(KEY) == b"new"


def test_removing_what_is_not_there_is_harmless(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache") as cache:
        cache.remove(KEY)
        assert cache.get(KEY) is None
        assert cache.working
    cache.remove(KEY)
