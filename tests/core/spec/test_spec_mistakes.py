"""A mistake names its place, key, value and remedy; all mistakes of one load come together."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.spec.load import load_experiment

Refused = Callable[..., str]


@pytest.mark.parametrize(
    ("override", "key", "value", "remedy"),
    [
        ("training.stps=5", "training.stps", "unknown key 'stps' (value 5)", "did you mean steps?"),
        ("trainig.steps=5", "trainig.steps", "unknown key 'trainig'", "did you mean training?"),
        ("policy.source.sed=5", "policy.source.sed", "unknown key 'sed'", "did you mean seed?"),
        ("data.gold.wordlist=a", "data.gold.wordlist", "unknown key 'wordlist'", "did you mean word_list?"),
        ("training.steps='10'", "training.steps", "'10' (text) is not a whole number", "write 10 without quotes"),
        ("training.steps=1_000", "training.steps", "'1_000' (text)", "write 1000 without quotes or underscores"),
        ("training.steps=true", "training.steps", "true (true/false) is not a whole number", "Training steps"),
        ("training.steps=2.0", "training.steps", "2.0 is not a whole number", "Training steps"),
        ("training.steps=null", "training.steps", "null is not a whole number", "Training steps"),
        ("training.steps=[1]", "training.steps", "a list is not a whole number", "Training steps"),
        ("training.learning_rate='1e-5'", "training.learning_rate", "'1e-5' (text) is not a number", "without quotes"),
        ("training.learning_rate=true", "training.learning_rate", "true (true/false) is not a number", "learning rate"),
        ("training.learning_rate=.nan", "training.learning_rate", "nan is not a finite number", "learning rate"),
        ("training.kl_coefficient=.inf", "training.kl_coefficient", "inf is not a finite number", "Weight of"),
        ("training.kl_coefficient=-0.1", "training.kl_coefficient", "-0.1 is out of range", "Weight of"),
        ("training.steps=0", "training.steps", "must be at least 1", "Training steps"),
        ("training.top_p=1.5", "training.top_p", "must be at most 1", "mass"),
        ("judge.logprobs=1", "judge.logprobs", "1 is not true or false", "write true or false"),
        ("judge.logprobs=yes", "judge.logprobs", "'yes' (text) is not true or false", "write true or false"),
        ("judge.family=7", "judge.family", "7 is not text", "put it into quotes"),
        ("judge.family=''", "judge.family", "'' (text) is not allowed", "write some text"),
        ("policy.dtype=float16", "policy.dtype", "'float16' (text) is not allowed", "'float32' or 'bfloat16'"),
        ("reward.protocol=vibes", "reward.protocol", "'vibes' (text) is not allowed", "'likelihood_ratio'"),
        (
            "policy.source.kind=hubb",
            "policy.source.kind",
            "'hubb' (text) is no kind",
            "'hub', 'folder', 'package', 'tiny'",
        ),
        ("policy.source={seed: 1}", "policy.source", "needs its kind", "hub, folder, package, tiny or uri"),
        ("policy.source=here", "policy.source", "'here' (text) is not a mapping", "kind hub"),
        ("policy=smolm2", "policy", "there is no file", "did you mean smollm2-135m?"),
        ("policy=nowhere", "policy", "there is no file", "known: qwen2.5-7b, qwen3-8b, smollm2-135m, tiny"),
        ("policy=../policies/tiny", "policy", "'../policies/tiny' (text) is no name", "known:"),
        ("policy={use: smol}", "policy.use", "there is no file", "smollm2-135m"),
        ("policy={use: 3}", "policy.use", "3 is not a name", "write a name from"),
        ("policy=3", "policy", "3 is neither a name nor a mapping", "write a name from"),
        ("policy=none.yaml", "policy", "there is no file", "a path that ends in .yaml"),
        ("training=fast", "training", "'fast' (text) is not a mapping", "write training as a mapping"),
        ("training.steps.more=1", "training.steps.more", "training.steps is 3 and has no keys", "set training.steps"),
        ("name.x=1", "name.x", "name has no keys", "write name=..."),
        ("data.criteria.7.text=a", "data.criteria.7.text", "'7' is no position in a list of 1", "use 0 to 0"),
        ("data.criteria.x=a", "data.criteria.x", "'x' is no position", "use 0 to 0"),
        ("data.gold.word_list=animal", "data.gold.word_list", "there is no file", "did you mean animals?"),
        ("data.train_templates=no.txt", "data.train_templates", "there is no file", "train_templates.txt"),
        (
            "data.train_templates=../a.txt",
            "data.train_templates",
            "'../a.txt' (text) is not allowed",
            "without its folder",
        ),
        ("reward.prompts.conditioned=no", "reward.prompts.conditioned", "there is no file", "answer_conditioned"),
        ("policy.chat_template=no.jinja", "policy.chat_template", "no.jinja cannot be read: No such file", "UTF-8"),
        ("policy.source={kind: folder, path: no}", "policy.source.path", "has no config.json", "Hugging Face"),
        ("policy.source={kind: hub, repo: a}", "policy.source.repo", "'a' (text) is not allowed", "owner/name"),
        (
            "policy.source={kind: uri, uri: /x}",
            "policy.source.uri",
            "'/x' (text) is not allowed",
            "such as s3://gavel/models/first",
        ),
        ("training.steps={", "training.steps", "not valid YAML", "quotes"),
        ("judge.port=80", "judge.port", "80 is out of range: it must be at least 1024", "Port"),
        ("seed=-1", "seed", "-1 is out of range", "Seed"),
        ("seed=1.5", "seed", "1.5 is not a whole number", "Seed"),
    ],
)
def test_a_mistake_on_the_command_line(refused: Refused, override: str, key: str, value: str, remedy: str) -> None:
    message = refused(override)
    assert message.startswith(f"{key}: "), message
    headline, where, advice = message.split("\n")
    assert value in headline
    assert re.match(r" +where: +command line \(", where)
    assert remedy in advice


@pytest.mark.parametrize("name", ["Upper", "under_score", "-a", "a-", "a.b", "ä", "a b", "a/b", "a" * 41, "", "a\n"])
def test_experiment_names_are_dns_labels_of_at_most_forty(refused: Refused, name: str) -> None:
    message = refused("name=" + '"' + name.replace("\n", "\\n") + '"')
    assert message.startswith("name: ")
    assert "at most 40" in message


@pytest.mark.parametrize("name", ["a", "a1", "run-2", "a" * 40])
def test_good_experiment_names(name: str) -> None:
    assert load_experiment("tiny", [f"name={name}"]).name == name


@pytest.mark.parametrize("text", ["", "x", "=3", "a..b=1", ".a=1"])
def test_an_override_that_is_none(refused: Refused, text: str) -> None:
    assert "is not key=value" in refused(text)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("context_tokens: 2048", "context_tokens: '2048'", 6, "policy.context_tokens: '2048' (text)"),
        ("dtype: float32", "dtype: float32\ndtype: bfloat16", 6, "dtype: key 'dtype' stands twice (first on line 5)"),
        ("kind: tiny", "kind: [tiny", 4, "policy: not valid YAML"),
        ("licence: MIT", "license: MIT", 7, "policy.license: unknown key 'license' (value 'MIT' (text))"),
        ("  seed: 0", "  seed: zero", 4, "policy.source.seed: 'zero' (text) is not a whole number"),
    ],
)
def test_a_mistake_in_a_part_names_its_file_and_line(
    refused: Refused, configs: Path, old: str, new: str, line: int, words: str
) -> None:
    path = configs / "policies" / "tiny.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    message = refused()
    assert words in message
    assert f"{path}:{line}\n" in message


def test_all_mistakes_come_in_one_error(refused: Refused, configs: Path) -> None:
    path = configs / "experiments" / "bad.yaml"
    path.write_text(
        "name: Bad\n"
        "policy: tinny\n"
        "judge: {use: tiny-lr, logprobs: false, attempts: 0}\n"
        "reward: {use: likelihood-ratio, temperature: '4'}\n"
        "data: {use: tiny-sentences, train_rows: 2}\n"
        "cluster: {use: local-folder, gpus: 2}\n"
        "training: {steps: 1, prompts_per_step: 4, rollouts_per_prompt: 1, max_prompt_tokens: 8,\n"
        "  max_response_tokens: 8, mini_batch_prompts: 3, micro_batch: 3}\n"
        "evaluation: {max_response_tokens: 8}\n"
        "extra: 1\n",
        encoding="utf-8",
    )
    message = refused("training.typo=1", experiment="bad")
    for mistake in (
        "name: 'Bad'",
        "policy: there is no file",
        "judge.attempts: 0 is out of range",
        "reward.temperature: '4' (text) is not a number",
        "cluster.gpus: accelerator cpu uses none of 2 GPUs",
        "training.typo: unknown key",
        "extra: unknown key",
    ):
        assert mistake in message, mistake
    places = [line.split(":", 1)[1].strip() for line in message.split("\n") if line.strip().startswith("where:")]
    assert f"{path}:5" not in places, "the rows cannot be compared while the training part is wrong"
    assert {f"{path}:{line}" for line in (1, 2, 3, 4, 6, 10)} < set(places)
    # The training part has a wrong key, so it is neither compared with itself nor with the data; then it is.
    second = refused(
        "name=good", "policy=tiny", "judge.attempts=1", "reward.temperature=4", "cluster.gpus=0", experiment=path
    )
    assert "training.rollouts_per_prompt" in second
    assert "training.mini_batch_prompts" in second
    assert "data.train_rows: 2 rows do not fill one step of training.prompts_per_step 4" in second


def test_missing_keys_are_named_with_their_purpose(refused: Refused, configs: Path) -> None:
    (configs / "experiments" / "bare.yaml").write_text("name: bare\ntraining: {}\n", encoding="utf-8")
    message = refused(experiment="bare")
    for part in ("policy", "judge", "reward", "data", "evaluation", "cluster"):
        assert f"{part}: this key is missing" in message
    assert "training.steps: this key is missing" in message
    assert "Unit: steps." in message


@pytest.mark.parametrize(
    ("text", "words"), [("", "the file is empty"), ("- a\n", "the file holds a list"), ("hello\n", "holds 'hello'")]
)
def test_a_file_without_keys(refused: Refused, configs: Path, text: str, words: str) -> None:
    (configs / "experiments" / "odd.yaml").write_text(text, encoding="utf-8")
    assert words in refused(experiment="odd")


def test_an_unknown_experiment_lists_what_there_is(refused: Refused) -> None:
    message = refused(experiment="quikstart")
    assert "did you mean quickstart?" in message
    assert "second, tiny" in message
    assert "there is no file" in refused(experiment="nowhere/x.yaml")
    assert "there is no" in refused(experiment="x" * 5000)
    assert "there is no" in refused(experiment="a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(refused: Refused, configs: Path) -> None:
    (configs / "policies" / "tiny.yaml").chmod(0)
    assert "cannot be read" in refused()


def test_json_that_is_no_experiment_is_refused() -> None:
    from components.core.spec import Experiment

    good = load_experiment("tiny").to_json()
    for text, words in (
        ("{", "not valid JSON"),
        ("[]", "is not a mapping"),
        ("{}", "policy: this key is missing"),
        (good.replace('"steps":3', '"steps":"3"'), "training.steps: '3' (text) is not a whole number"),
        (good.replace('"steps":3', '"stepz":3'), "did you mean steps?"),
        (good.replace('"logprobs":true', '"logprobs":false'), "judge.logprobs: false"),
    ):
        with pytest.raises(ConfigError) as caught:
            Experiment.from_json(text)
        assert words in str(caught.value)
