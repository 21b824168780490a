"""A secret in a configuration is refused, and its text is never repeated."""

from collections.abc import Callable
from pathlib import Path

import pytest

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
