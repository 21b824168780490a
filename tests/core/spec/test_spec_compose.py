"""Names become files, ``use`` starts from one, overrides lie on top."""

from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.spec.load import load_experiment
from components.core.spec.show import show

TINY = """
policy: {policy}
judge: {judge}
reward: likelihood-ratio
data: tiny-sentences
cluster: local-folder
training: {{steps: 1, prompts_per_step: 2, rollouts_per_prompt: 2, max_prompt_tokens: 64, max_response_tokens: 8,
  mini_batch_prompts: 2, micro_batch: 4}}
evaluation: {{max_response_tokens: 8}}
"""


def _write(path: Path, policy: str = "tiny", judge: str = "tiny-lr") -> Path:
    path.write_text(TINY.format(policy=policy, judge=judge), encoding="utf-8")
    return path


def test_an_experiment_without_a_name_takes_that_of_its_file(tmp_path: Path) -> None:
    assert load_experiment(_write(tmp_path / "my-run.yaml")).name == "my-run"


def test_a_part_without_a_name_takes_that_of_its_file(configs: Path) -> None:
    (configs / "policies" / "mine.yaml").write_text((configs / "policies" / "tiny.yaml").read_text())
    assert load_experiment("tiny", ["policy=mine"], configs).policy.name == "mine"


def test_a_mapping_is_taken_as_it_is(tmp_path: Path) -> None:
    inline = "{name: own, source: {kind: hub, repo: a/b}, context_tokens: 99, licence: MIT, parameters: 5}"
    policy = load_experiment(_write(tmp_path / "a.yaml", inline)).policy
    assert (policy.name, policy.context_tokens, policy.source.kind) == ("own", 99, "hub")


def test_use_starts_from_a_named_file_and_changes_what_is_beside_it(tmp_path: Path) -> None:
    loaded = load_experiment(_write(tmp_path / "a.yaml", "{use: tiny, dtype: bfloat16, source: {seed: 5}}"))
    named = load_experiment("tiny").policy.model_dump()
    assert loaded.policy.model_dump() == {**named, "dtype": "bfloat16", "source": {"kind": "tiny", "seed": 5}}


def test_another_kind_of_source_replaces_the_whole_source(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.yaml", judge="{use: smollm2-lr, source: {kind: tiny, seed: 3}}")
    source = load_experiment(path).judge.source
    assert source is not None
    assert source.model_dump() == {"kind": "tiny", "seed": 3}


def test_lists_are_replaced_not_joined() -> None:
    data = load_experiment("tiny", ["data.criteria=[{text: is polite}]"]).data
    assert [line.text for line in data.criteria] == ["is polite"]


def test_a_part_may_be_a_path_that_starts_at_the_file_using_it(tmp_path: Path, configs: Path) -> None:
    (tmp_path / "parts").mkdir()
    (configs / "policies" / "tiny.yaml").rename(tmp_path / "parts" / "own.yaml")
    path = _write(tmp_path / "a.yaml", "parts/own.yaml")
    assert load_experiment(path, (), configs).policy.name == "own"


def test_an_experiment_may_be_given_as_text_path_or_name(configs: Path) -> None:
    path = configs / "experiments" / "tiny.yaml"
    assert load_experiment(path) == load_experiment(str(path)) == load_experiment("tiny")


def test_overrides_are_yaml_laid_over_in_their_order() -> None:
    loaded = load_experiment(
        "tiny",
        [
            "training.steps=5",
            "training.steps=7",
            "judge.timeout_seconds=10",
            "training.learning_rate=1e-5",
            "policy.system_prompt=null",
            "name=other",
            "seed=9",
            "training.lora.rank=4",
            "data.criteria.0.points=2.5",
        ],
    )
    assert loaded.training.steps == 7
    assert loaded.judge.timeout_seconds == 10.0
    assert loaded.training.learning_rate == 1e-5
    assert loaded.policy.system_prompt is None
    assert (loaded.name, loaded.seed) == ("other", 9)
    assert loaded.training.lora is not None
    assert (loaded.training.lora.rank, loaded.training.lora.alpha) == (4, 32)
    assert loaded.data.criteria[0].points == 2.5


def test_a_whole_part_is_set_before_single_fields_whatever_the_order() -> None:
    loaded = load_experiment("quickstart", ["policy.dtype=bfloat16", "policy=tiny"])
    assert (loaded.policy.name, loaded.policy.dtype) == ("tiny", "bfloat16")


def test_an_override_of_the_kind_replaces_the_source() -> None:
    loaded = load_experiment("quickstart", ["policy.source.kind=tiny", "policy.source.seed=4"])
    assert loaded.policy.source.model_dump() == {"kind": "tiny", "seed": 4}


def test_overrides_leave_the_files_alone(configs: Path) -> None:
    before = {path: path.read_bytes() for path in configs.rglob("*.yaml")}
    load_experiment("tiny", ["training.steps=5", "policy.dtype=bfloat16"], configs)
    assert {path: path.read_bytes() for path in configs.rglob("*.yaml")} == before
    assert load_experiment("tiny", (), configs).training.steps == 3


def test_a_chat_template_travels_as_text(tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("{{ messages }}", encoding="utf-8")
    path = _write(tmp_path / "a.yaml", "{use: tiny, chat_template: own.jinja}")
    policy = load_experiment(path).policy
    assert policy.chat_template_text == "{{ messages }}"
    assert policy.chat_template == str((tmp_path / "own.jinja").resolve())


def test_a_data_file_is_known_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"abc")
    monkeypatch.chdir(tmp_path)
    data = load_experiment("tiny", ["data.kind=jsonl", "data.path=rows.jsonl"]).data
    # FIPS 180-2, appendix B.1: the digest of "abc".
    assert data.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert data.path == str((tmp_path / "rows.jsonl").resolve())


def test_a_data_file_that_is_not_the_asserted_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"abc")
    with pytest.raises(ConfigError, match=r"data\.sha256.*ba7816bf"):
        load_experiment("tiny", ["data.kind=jsonl", f"data.path={path}", f"data.sha256={'0' * 64}"])


def test_show_prints_what_load_reads_back(tmp_path: Path) -> None:
    for name in ("quickstart", "tiny", "second"):
        text = show(name, ["training.steps=2"])
        path = tmp_path / "resolved.yaml"
        path.write_text(text, encoding="utf-8")
        expected = load_experiment(name, ["training.steps=2"])
        assert load_experiment(path) == expected
        assert text.splitlines()[0] == f"# experiment {name}, sha256 {expected.digest()}"
