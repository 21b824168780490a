"""The S3 store with parts as small as S3 allows."""

import pytest
from killed_uploads import PART

from components.core.store import Store
from components.core.store.s3 import S3Store


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("s3", "transfer"):
        monkeypatch.setattr(f"components.core.store.{module}.PART_SIZE", PART)


@pytest.fixture
def store(s3: str) -> S3Store:
    store = Store.open(s3)
    assert isinstance(store, S3Store)
    return store
