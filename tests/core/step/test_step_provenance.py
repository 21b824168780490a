"""Where the code came from."""

from pathlib import Path

import pytest

from components.core.manifest import GitState
from components.core.step.provenance import git_state

REVISION = "0123456789abcdef" * 2 + "01234567"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (REVISION, GitState(revision=REVISION, dirty=False)),
        (f"{REVISION}-dirty", GitState(revision=REVISION, dirty=True)),
        ("unknown", None),
        ("", None),
    ],
)
def test_an_image_says_what_it_was_built_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, expected: GitState | None
) -> None:
    monkeypatch.setenv("GAVEL_REVISION", value)
    assert git_state(tmp_path) == expected


def test_a_checkout_is_asked_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_REVISION", REVISION)
    found = git_state()
    assert found is None or found.revision != REVISION
