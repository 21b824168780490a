"""IFEval in the experiment: the file is known by its content, and only what depends on it is made again."""

from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.spec import Experiment, load_experiment

# FIPS 180-2, appendix B.1: the digest of "abc".
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def with_file(path: Path, *overrides: str) -> Experiment:
    path.write_bytes(b"abc")
    return load_experiment("tiny", [f"evaluation.ifeval={{path: '{path}'}}", *overrides])


def test_the_file_is_known_by_its_content(tmp_path: Path):
    here, there = with_file(tmp_path / "a.jsonl"), with_file(tmp_path / "b.jsonl")
    assert here.evaluation.ifeval is not None
    assert here.evaluation.ifeval.sha256 == ABC
    assert here.ifeval_identity() == there.ifeval_identity()
    assert here.digest() == there.digest()
    assert "path" not in (here.ifeval_identity() or {})


def test_it_repeats_no_other_evaluation(tmp_path: Path):
    plain, asked = load_experiment("tiny"), with_file(tmp_path / "a.jsonl")
    assert plain.ifeval_identity() is None
    assert plain.generation_identity() == asked.generation_identity()
    assert plain.evaluation_identity() != asked.evaluation_identity()
    longer = with_file(tmp_path / "a.jsonl", "evaluation.ifeval.max_response_tokens=9")
    assert longer.ifeval_identity() != asked.ifeval_identity()


def test_another_content_than_asserted_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match=rf"evaluation\.ifeval\.sha256.*{ABC[:8]}"):
        with_file(tmp_path / "a.jsonl", f"evaluation.ifeval.sha256={'0' * 64}")


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"evaluation\.ifeval\.path: .*none\.jsonl"):
        load_experiment("tiny", [f"evaluation.ifeval={{path: '{tmp_path}/none.jsonl'}}"])


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("evaluation.ifeval.max_response_tokens=2048", "leaves no room for a prompt"),
        ("evaluation.ifeval.samples=2", "all the same"),
        ("evaluation.top_k=0", "keeps no token"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, override: str, words: str):
    with pytest.raises(ConfigError, match=words):
        with_file(tmp_path / "a.jsonl", override)
