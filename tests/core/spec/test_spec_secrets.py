"""A secret in a configuration is refused, and its text is never repeated."""

from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.spec import Experiment
from components.core.spec.load import load_experiment
from components.core.spec.secrets import is_secret, names_secret

# Put together at run time, so that no file of the project holds anything that looks like a key.
BODY = "abcDEF0123456789abcDEF0123456789"
FORMS = [
    "s" + "k-" + BODY,
    "s" + "k-proj-" + BODY,
    "h" + "f_" + BODY,
    "gh" + "p_" + BODY,
    "AK" + "IA" + "ABCDEFGHIJKLMNOP",
    "AI" + "za" + BODY,
    "xo" + "xb-" + BODY,
    "Bear" + "er " + BODY,
    "http://user" + ":" + BODY + "@127.0.0.1:8000",
    "-----BEGIN RSA PRIVATE" + " KEY-----",
]


@pytest.mark.parametrize("secret", FORMS)
def test_known_forms_are_recognised(secret: str) -> None:
    assert is_secret(secret)
    assert is_secret(f"see {secret} there")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "JUDGE_API_KEY",
        "Answer the task-oriented question.",
        "mentions an animal",
        "http://127.0.0.1:8000",
        "Qwen/Qwen2.5-7B-Instruct",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "risk-averse-investors-beware",
    ],
)
def test_ordinary_text_is_not(text: str) -> None:
    assert not is_secret(text)


def test_names_of_fields_that_would_hold_one() -> None:
    assert all(
        names_secret(key) for key in ("api_key", "apiKey".lower(), "hf_token", "password", "aws-secret-access-key")
    )
    assert not any(
        names_secret(key) for key in ("api_key_env", "max_prompt_tokens", "context_tokens", "key", "targets")
    )


@pytest.mark.parametrize("secret", FORMS)
@pytest.mark.parametrize(
    "key", ["judge.api_key_env", "judge.endpoint", "policy.system_prompt", "judge.nothing", "seed"]
)
def test_a_secret_is_refused_and_not_repeated(refused: Callable[..., str], key: str, secret: str) -> None:
    message = refused(f"{key}='{secret}'")
    assert BODY not in message
    assert secret not in message
    assert key in message


@pytest.mark.parametrize("value", ["hunter2hunter2", "abcdef0123456789"])
def test_a_field_named_for_a_secret_is_refused_whatever_it_holds(
    refused: Callable[..., str], configs: Path, value: str
) -> None:
    path = configs / "judges" / "tiny-lr.yaml"
    path.write_text(path.read_text() + f"api_key: {value}\n", encoding="utf-8")
    message = refused()
    assert message.startswith("judge.api_key: a secret has no place in a configuration")
    assert value not in message
    assert "environment variable" in message
    assert f"{path}:" in message


def test_a_key_where_a_name_belongs_is_refused_and_not_repeated(refused: Callable[..., str]) -> None:
    message = refused("judge.api_key_env=a1b2c3d4e5f6a7b8")
    assert "a1b2c3d4e5f6a7b8" not in message
    assert "NAME of an environment variable" in message


@pytest.mark.parametrize(
    "override", ["policy={0}", "{0}", "policy={{use: {0}}}", "name={0}", "training={0}", "x.y={0}"]
)
def test_a_secret_in_the_wrong_place_is_not_repeated(refused: Callable[..., str], override: str) -> None:
    secret = "s" + "k-" + BODY
    assert BODY not in refused(override.format(secret))


def test_the_name_of_a_variable_is_taken() -> None:
    assert load_experiment("tiny", ["judge.api_key_env=JUDGE_API_KEY"]).judge.api_key_env == "JUDGE_API_KEY"


USERS = (
    "user:{0}@",
    "user:{0}/x@",
    "user:{0}?x#y@",
    "{0}@",
    ":{0}@",
    "user:[{0}]@",
    "user:{0}%40x@",
    "user:{0}@twice@",
)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("scheme", ["http://", "https://", "ftp://", ""])
@pytest.mark.parametrize("key", ["cluster.store.endpoint", "judge.endpoint"])
def test_credentials_of_an_endpoint_are_refused_and_not_shown(
    refused: Callable[..., str], key: str, scheme: str, user: str
) -> None:
    """In whatever form: a password may hold characters after which nothing looks like one any more."""
    password = "hunter2Hunter2"
    url = f"{scheme}{user.format(password)}127.0.0.1:9000"
    whole = ["cluster=dev"] if key.startswith("cluster") else ["judge.serving=external", "judge.source=null"]
    message = refused(*whole, f"{key}='{url}'")
    assert password not in message
    assert key in message
    assert "credentials" in message or "a secret has no place" in message


def test_credentials_in_the_stores_url_are_not_shown_either(refused: Callable[..., str]) -> None:
    message = refused("cluster=dev", f"cluster.store.url='s3://{USERS[1].format('hunter2')}gavel/x'")
    assert "hunter2" not in message.lower()
    assert "cluster.store.url" in message


def test_an_experiment_from_json_is_held_to_the_same() -> None:
    """As a rerun from KFP's page brings it, past the files."""
    text = load_experiment("dev_cluster").to_json()
    there = "http://minio.gavel.svc.cluster.local:9000"
    assert there in text
    with pytest.raises(ConfigError) as caught:
        Experiment.from_json(text.replace(there, f"http://{USERS[1].format('hunter2')}minio:9000"))
    assert "hunter2" not in str(caught.value).lower()
    assert "credentials" in str(caught.value)


@pytest.mark.parametrize("url", ["http://s3.test/path", "http://s3.test?x", "http://:9000", "http://s3.test:port"])
def test_an_endpoint_is_a_server_alone(refused: Callable[..., str], url: str) -> None:
    assert "cluster.store.endpoint" in refused("cluster=dev", f"cluster.store.endpoint='{url}'")
