"""Studies: what is expanded into which arms, and what is refused."""

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ConfigError
from components.core.spec import load_experiment
from components.core.spec.arm import ArmKey
from components.core.spec.study_load import load_study

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
JUDGES = """
  - judge: tiny-lr
    rewards: [likelihood-ratio, likelihood-ratio-binary]
  - judge: {use: tiny-lr, name: other, source: {kind: tiny, seed: 9}}
    rewards: [likelihood-ratio]
"""


def write(folder: Path, judges: str = JUDGES, **keys: str) -> Path:
    known = {
        "experiment": "{use: tiny, training: {steps: 6}}",
        "seeds": "[1, 2]",
        "controls": "[length, random]",
        "probes": "{names: [position], items: 48}",
        "drift": "{every: 2}",
    } | keys
    text = "".join(f"{key}: {value}\n" for key, value in known.items())
    path = folder / "mine.yaml"
    path.write_text(f"{text}judges: {judges}\n", encoding="utf-8")
    return path


def test_the_matrix_is_judges_by_rewards_by_policies_by_seeds_and_controls(tmp_path):
    policies = "[tiny, {use: tiny, name: twin, source: {kind: tiny, seed: 5}}]"
    study = load_study(write(tmp_path, policies=policies))
    trained = {(a.key.judge, a.key.reward, a.key.policy, a.key.seed) for a in study.arms if a.key.control is None}
    pairs = [("tiny-lr", "likelihood-ratio"), ("tiny-lr", "likelihood-ratio-binary"), ("other", "likelihood-ratio")]
    assert trained == {(*pair, policy, seed) for pair in pairs for policy in ("tiny", "twin") for seed in (1, 2)}
    controls = {(a.key.control, a.key.policy, a.key.seed) for a in study.arms if a.key.control}
    assert controls == set(itertools.product(("length", "random"), ("tiny", "twin"), (1, 2)))
    assert [(arm.key.judge, arm.key.reward) for arm in study.scorers] == pairs


def test_an_arm_is_a_whole_experiment_that_differs_from_the_shared_one_where_it_says(tmp_path):
    study = load_study(write(tmp_path))
    alone = load_experiment("tiny", ["training.steps=6", "reward=likelihood-ratio-binary", "seed=2"])
    arm = next(a for a in study.arms if a.key.reward == "likelihood-ratio-binary" and a.key.seed == 2)
    assert arm.experiment.name == arm.name != alone.name
    assert arm.experiment.data_identity() == alone.data_identity()
    assert arm.experiment.rewarding_identity() == alone.rewarding_identity()
    # Looks at steps 2 and 4, and at the last.
    assert arm.experiment.training.published_steps() == (2, 4)
    training = arm.experiment.training
    assert training.checkpoint_every == 2
    assert training.keep_checkpoints >= 3
    assert list(training.conflicts()) == []


def test_control_arms_ask_nobody_in_training_and_are_scored_as_the_first_arm_is(tmp_path):
    study = load_study(write(tmp_path))
    for arm in study.arms:
        assert arm.judged == (arm.key.control is None)
        if arm.key.control:
            assert arm.experiment.reward.combine == arm.key.control
            assert arm.experiment.judge == study.arms[0].experiment.judge
            assert arm.experiment.reward.protocol == study.arms[0].experiment.reward.protocol


def test_another_judge_changes_no_arm_that_is_there(tmp_path):
    before = load_study(write(tmp_path))
    more = (
        JUDGES
        + "  - judge: {use: tiny-lr, name: third, source: {kind: tiny, seed: 3}}\n    rewards: [likelihood-ratio]\n"
    )
    after = load_study(write(tmp_path, more))
    known = {arm.name: arm.identity() for arm in before.arms}
    again = {arm.name: arm.identity() for arm in after.arms}
    assert known.items() <= again.items()
    assert len(again) == len(known) + 2


def test_the_text_of_a_study_reads_back_as_the_same_arms(tmp_path):
    study = load_study(write(tmp_path), ["probes.items=60", "experiment.training.steps=8", "seeds=[4]"])
    again = load_study(study.text)
    assert again.spec == study.spec
    assert again.arms == study.arms
    assert study.arms[0].experiment.training.steps == 8
    assert study.arms[0].experiment.seed == 4


def test_failures_as_zero_are_an_arm_beside_the_masked_one(tmp_path):
    judges = "\n  - {judge: tiny-lr, rewards: [likelihood-ratio], failures: [masked, zero_as_control]}"
    study = load_study(write(tmp_path, judges, controls="[]", seeds="[1]"))
    masked, zero = study.arms
    assert (masked.key.control, zero.key.control) == (None, "zero_as_control")
    assert not masked.experiment.reward.fails_to_zero
    assert zero.experiment.reward.fails_to_zero
    assert masked.experiment.rewarding_identity() != zero.experiment.rewarding_identity()
    # Held-out responses are scored alike.
    assert masked.experiment.reward_identity() == zero.experiment.reward_identity()
    assert len(study.scorers) == 1


@pytest.mark.parametrize(
    ("judges", "keys", "words"),
    [
        ("\n  - {judge: tiny-lr, rewards: [length]}", {}, "asks no judge in training"),
        (JUDGES, {"drift": "{every: 6}"}, "no look before the last"),
        (JUDGES, {"seeds": "[1, 1]"}, "more than once"),
        (JUDGES, {"policies": "[tiny, {use: tiny, name: same}]"}, "one and the same model"),
        ("\n  - {judge: tiny-lr, rewards: [likelihood-ratio, likelihood-ratio]}", {}, "two arms have judge"),
        (
            "\n  - {judge: tiny-lr, rewards: [likelihood-ratio], failures: [zero_as_control]}",
            {},
            "stands alone",
        ),
        ("\n  - {judge: tiny-chat, rewards: [rubric, semantic-equality]}", {}, "criteria are answers"),
        ("\n  - {judge: tiny-lr, rewards: [rubrik]}", {}, "did you mean rubric"),
        (JUDGES, {"experiment": "{training: {steps: 4}}"}, "names no experiment"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_line(tmp_path, judges, keys, words):
    path = write(tmp_path, judges, **keys)
    with pytest.raises(ConfigError) as caught:
        load_study(path)
    assert words in str(caught.value)
    assert "mine.yaml:" in str(caught.value)
    assert "remedy:" in str(caught.value)


@pytest.mark.parametrize("experiment", ["tiny_mixed", "tiny_workflow"])
@pytest.mark.parametrize(
    "judge", ["{judge: tiny-lr, rewards: [likelihood-ratio]}", "{judge: tiny-chat, rewards: [rubric]}"]
)
def test_what_its_own_checks_score_is_no_ground_for_comparing_judges(tmp_path, experiment, judge):
    with pytest.raises(ConfigError) as caught:
        load_study(write(tmp_path, f"\n  - {judge}", experiment=experiment))
    told = str(caught.value)
    # That alone: what each arm would say of it in its own way is no second mistake.
    assert "study.experiment: responses to" in told
    assert "scored by their own checks" in told
    assert "mine.yaml:1" in told
    assert "mistakes" not in told


@pytest.mark.parametrize(
    ("judges", "keys", "words"),
    [
        ("\n  - tiny-lr", {}, "study.judges.0: 'tiny-lr' (text) is not a mapping"),
        (
            "\n  - {judge: tiny-lr, rewards: [likelihood-ratio], failures: [zero]}",
            {},
            "study.judges.0.failures.0: 'zero'",
        ),
        (JUDGES, {"seeds": "[one]"}, "study.seeds.0: 'one' (text) is not a whole number"),
        (JUDGES, {"probes": "{names: [position], modes: [binry]}"}, "study.probes.modes.0: 'binry'"),
        (JUDGES, {"seeds": "[]"}, "study.seeds: it holds 0, and needs at least 1"),
    ],
)
def test_one_mistake_in_a_list_is_one_and_not_a_short_list_too(tmp_path, judges, keys, words):
    with pytest.raises(ConfigError) as caught:
        load_study(write(tmp_path, judges, **keys))
    assert str(caught.value).startswith(words)
    assert "mine.yaml:" in str(caught.value)


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        ("verbositty: 0.2", "biases.verbositty: no scripted judge has an axis 'verbositty'"),
        ("failure: -0.1", "biases.failure: strength -0.1 of failure is below 0"),
        ("retry: 0.7", "biases.retry: strength 0.7 of retry is above 0.5"),
    ],
)
def test_what_no_scripted_judge_can_have_planted_is_told_before_it_is_served(tmp_path, bias, words):
    judge = f"{{use: scripted-plain, source: {{kind: scripted, biases: {{{bias}}}}}}}"
    with pytest.raises(ConfigError) as caught:
        load_study(write(tmp_path, f"\n  - {{judge: {judge}, rewards: [rubric]}}"))
    assert f"judge.source.{words}" in str(caught.value)
    assert "mine.yaml:" in str(caught.value)


def test_a_control_that_the_data_do_not_allow_is_told_as_a_control_and_where_controls_stand(tmp_path):
    path = write(tmp_path, controls="[length, rule_only]")
    line = path.read_text(encoding="utf-8").splitlines().index("controls: [length, rule_only]") + 1
    with pytest.raises(ConfigError, match="leave rule_only out of controls") as caught:
        load_study(path)
    assert "control rule_only: " in str(caught.value)
    assert f"mine.yaml:{line}\n" in str(caught.value)


def test_a_source_without_its_kind_is_told_every_kind_of_a_judge(tmp_path):
    keys = "name: mine, family: none, serving: embedded, model_name: mine, context_tokens: 4096, logprobs: false"
    judge = f"{{{keys}, source: {{biases: {{}}}}}}"
    with pytest.raises(ConfigError, match="add kind: hub, folder, package, tiny, uri or scripted"):
        load_study(write(tmp_path, f"\n  - {{judge: {judge}, rewards: [rubric]}}"))


@pytest.mark.parametrize(
    ("override", "remedy"),
    [
        ("training.steps=3", "write experiment.training.steps=..."),
        ("judge.name=x", "did you mean judges?"),
        ("probe.items=3", "did you mean probes?"),
    ],
)
def test_a_key_of_the_experiment_is_told_where_it_stands_in_a_study(tmp_path, override, remedy):
    with pytest.raises(ConfigError) as caught:
        load_study(write(tmp_path), [override])
    assert remedy in str(caught.value)


def test_what_is_wrong_with_a_judge_is_told_once_however_many_arms_have_it(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load_study(write(tmp_path, "\n  - {judge: tiny-lrr, rewards: [likelihood-ratio]}"))
    assert str(caught.value).count("tiny-lrr") == 1


def test_a_study_without_a_file_says_which_there_are():
    with pytest.raises(ConfigError, match="quick"):
        load_study("quik")


@given(
    st.builds(
        ArmKey,
        judge=st.from_regex(LABEL, fullmatch=True),
        reward=st.from_regex(LABEL, fullmatch=True),
        policy=st.from_regex(LABEL, fullmatch=True),
        seed=st.integers(0, 2**31 - 1),
        control=st.sampled_from([None, "length", "zero_as_control", "rule_only"]),
    ),
    st.from_regex(LABEL, fullmatch=True),
)
def test_names_are_labels_of_at_most_40_characters(key, study):
    assert LABEL.fullmatch(key.name(study))
    assert len(key.name(study)) <= 40


def test_names_that_are_cut_alike_stay_apart():
    long = "a" * 40
    keys = [ArmKey(long, long, policy, 1, control) for policy in "xy" for control in (None, "zero_as_control")]
    assert len({key.name(long) for key in keys}) == len(keys)
    # Which part a hyphen belongs to does not show in the text.
    assert ArmKey("a-b", "c", "d", 1).name("s") != ArmKey("a", "b-c", "d", 1).name("s")


def test_shipped_studies_load():
    for path in sorted((Path(__file__).resolve().parents[3] / "configs" / "studies").glob("*.yaml")):
        assert load_study(path).arms, path
