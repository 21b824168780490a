"""kubectl as a child process: what it says comes through, and where it is not there, that is said."""

import stat
import sys
from pathlib import Path

import pytest

from components.cluster_setup import kubectl as module
from components.cluster_setup.__main__ import main
from components.cluster_setup.kubectl import Kubectl, SetupError, is_absent


def program(folder: Path, body: str) -> str:
    """An executable that stands for kubectl."""
    path = folder / "kubectl"
    path.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_context_goes_first_and_the_text_by_standard_input(tmp_path: Path) -> None:
    found = Kubectl(program(tmp_path, "print(sys.argv[1:], sys.stdin.read())"), "there")
    assert found.run("apply", "-f", "-", given="abc") == "['--context', 'there', 'apply', '-f', '-'] abc\n"


def test_its_own_words_are_the_error(tmp_path: Path) -> None:
    found = Kubectl(program(tmp_path, "sys.exit('Error from server (Forbidden): no pods for you')"))
    with pytest.raises(SetupError, match="no pods for you") as caught:
        found.run("get", "pods")
    assert caught.value.where == "kubectl get pods"
    assert not is_absent(caught.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("error: current-context is not set", "CONTEXT="),
        ('error: context "there" does not exist', "CONTEXT="),
        ("error: timed out waiting for the condition on persistentvolumeclaims/gavel-models", "run the same again"),
        ("Error from server (Forbidden): no pods for you", "whoami"),
    ],
)
def test_the_remedy_fits_what_it_said(tmp_path: Path, said: str, told: str) -> None:
    with pytest.raises(SetupError) as caught:
        Kubectl(program(tmp_path, f"sys.exit({said!r})")).run("delete", "-f", "-")
    assert told in caught.value.remedy
    assert caught.value.what == said.removeprefix("error: ")


def test_a_server_that_does_not_answer_ends_the_wait(tmp_path: Path) -> None:
    found = Kubectl(program(tmp_path, "time.sleep(60)"))
    with pytest.raises(SetupError, match="no answer"):
        found.run("version", seconds=0.5)


def test_what_is_not_there_is_none_and_a_refusal_is_not(tmp_path: Path) -> None:
    gone = Kubectl(program(tmp_path, "sys.exit('Error from server (NotFound): secrets \"x\" not found')"))
    assert gone.get("secret", "x", "gavel") is None
    assert gone.list("secrets", "gavel") == []
    shut = Kubectl(program(tmp_path, "sys.exit('Error from server (Forbidden): secrets is forbidden')"))
    with pytest.raises(SetupError, match="forbidden"):
        shut.get("secret", "x", "gavel")
    with pytest.raises(SetupError, match="forbidden"):
        shut.list("secrets", "gavel")


def test_without_kubectl_the_command_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    monkeypatch.setattr(module.sys, "executable", "/nowhere/python")
    assert main(["deploy", "--overlay", "dev"]) == 1
    assert "kubectl is not installed" in capsys.readouterr().err


def test_kubectl_of_the_path_comes_before_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(tmp_path, "print('mine')")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Kubectl.find().run("version") == "mine\n"
