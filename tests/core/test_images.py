"""Which image a compiled pipeline may name."""

import json
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.images import IMAGES, image, pinned

DIGEST = "@sha256:" + "0123456789abcdef" * 4


@pytest.fixture(autouse=True)
def _no_images(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in IMAGES:
        monkeypatch.delenv(f"GAVEL_IMAGE_{name.upper()}", raising=False)
    monkeypatch.delenv("GAVEL_IMAGES", raising=False)


def listed(folder: Path, **images: str) -> Path:
    path = folder / "images.json"
    path.write_text(json.dumps(images))
    return path


def test_the_file_of_make_images_is_read_and_the_environment_goes_first(tmp_path, monkeypatch):
    path = listed(tmp_path, tools=f"r.test/tools{DIGEST}", trainer=f"r.test:5000/g/trainer:1.2{DIGEST}")
    assert pinned(["tools", "trainer"], file=path)["trainer"] == f"r.test:5000/g/trainer:1.2{DIGEST}"
    monkeypatch.setenv("GAVEL_IMAGE_TOOLS", f"other/tools{DIGEST}")
    assert pinned(["tools"], file=path) == {"tools": f"other/tools{DIGEST}"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("r.test/tools:1.2", "has a tag"),
        ("r.test/tools:latest", "from day to day"),
        ("r.test:5000/tools", "means latest"),
        ("tools", "means latest"),
        (f"r.test/tools{DIGEST[:-1]}", "means latest"),
        (f"r.test/to ols{DIGEST}", "means latest"),
    ],
)
def test_an_image_without_a_digest_is_refused(tmp_path, name, words):
    with pytest.raises(ConfigError, match=words) as caught:
        pinned(["tools"], file=listed(tmp_path, tools=name))
    assert "GAVEL_IMAGE_TOOLS" in caught.value.remedy


@pytest.mark.parametrize("name", ["r.test/tools:latest", "r.test:5000/tools", "tools"])
def test_latest_is_refused_even_where_tags_are_allowed(tmp_path, name):
    with pytest.raises(ConfigError):
        pinned(["tools"], file=listed(tmp_path, tools=name), allow_tags=True)


def test_allowed_tags_fall_back_to_this_version(tmp_path):
    nowhere = tmp_path / "none.json"
    assert pinned(["tools"], file=nowhere, allow_tags=True) == {"tools": image("tools")}
    assert pinned(["tools"], file=listed(tmp_path, tools="r.test/tools:1.2"), allow_tags=True) == {
        "tools": "r.test/tools:1.2"
    }
    with pytest.raises(ConfigError, match="no image with a digest") as caught:
        pinned(["tools"], file=nowhere)
    assert "ALLOW_TAGS=1" in caught.value.remedy


def test_all_images_that_are_missing_or_wrong_are_told_at_once(tmp_path):
    with pytest.raises(ConfigError) as caught:
        pinned(["trainer", "tools", "evaluation"], file=listed(tmp_path, serving=f"r.test/s{DIGEST}"))
    assert caught.value.what == "no image with a digest is known for evaluation, tools, trainer"
    for name in ("EVALUATION", "TOOLS", "TRAINER"):
        assert f"GAVEL_IMAGE_{name}" in caught.value.remedy
    with pytest.raises(ConfigError) as caught:
        pinned(["trainer", "tools", "evaluation"], file=listed(tmp_path, tools="r.test/t:1.2", trainer="r.test/t"))
    assert "'r.test/t:1.2' has a tag" in caught.value.what
    assert "'r.test/t' has neither" in caught.value.what
    assert "known for evaluation" in caught.value.what
    assert caught.value.where == str(tmp_path / "images.json")


def test_one_wrong_image_that_stands_for_several_is_told_once(tmp_path):
    with pytest.raises(ConfigError) as caught:
        pinned(["trainer", "evaluation"], accelerator="cpu", file=listed(tmp_path, cpu="r.test/cpu:latest"))
    assert caught.value.what.count("from day to day") == 1


def test_without_gpus_the_cpu_image_stands_for_the_heavy_ones(tmp_path):
    path = listed(tmp_path, **{name: f"r.test/{name}{DIGEST}" for name in ("tools", "trainer", "cpu")})
    assert pinned(["tools", "trainer", "evaluation"], accelerator="cpu", file=path) == {
        "tools": f"r.test/tools{DIGEST}",
        "trainer": f"r.test/cpu{DIGEST}",
        "evaluation": f"r.test/cpu{DIGEST}",
    }


@pytest.mark.parametrize("text", ["[]", "{", '{"tools": 1}'])
def test_a_broken_file_is_told(tmp_path, text):
    (tmp_path / "images.json").write_text(text)
    with pytest.raises(ConfigError, match="images file"):
        pinned(["tools"], file=tmp_path / "images.json", allow_tags=True)
