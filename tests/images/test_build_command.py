"""What ``make images`` asks of an engine, and what it believes; the engines are small scripts."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIGEST = "sha256:" + "ab" * 32
ENGINE = """#!{python}
import json, os, pathlib, sys
given = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(given) + "\\n")
fails = json.loads(os.environ.get("FAILS", "{{}}"))
for words, (status, text) in fails.items():
    if all(word in given for word in words.split()):
        print(text, file=sys.stderr)
        sys.exit(status)
if given[0] == "info":
    print({storage!r})
if "--digestfile" in given and not os.environ.get("NO_DIGEST"):
    pathlib.Path(given[given.index("--digestfile") + 1]).write_text({digest!r})
if given[:2] == ["image", "inspect"]:
    reference = given[-1]
    name = reference.rpartition(":")[0] or reference
    asked = given[3] if len(given) > 3 else ""
    print(json.dumps([name + "@" + {digest!r}]) if "RepoDigests" in asked else "sha256:" + "cd" * 32)
if given[0] == "inspect":
    print(json.dumps({{"FromImageID": "cd" * 32, "FromImageDigest": {digest!r}}}))
"""


@dataclass
class Made:
    """One run of the command."""

    status: int
    said: str
    images: dict[str, str]
    calls: list[list[str]]

    def calls_of(self, action: str) -> list[list[str]]:
        return [call for call in self.calls if call[0] == action]


@pytest.fixture
def make(tmp_path: Path):
    """Runs the command with scripts for engines; the base is one that needs no pull unless the test says so."""

    def run(
        *given: str, engines: tuple[str, ...] = ("podman",), base: str = "localhost/base:1", **fails: object
    ) -> Made:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        log = tmp_path / "log"
        for name in engines:
            text = ENGINE.format(python=sys.executable, log=str(log), storage="", digest=DIGEST)
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        output = tmp_path / "images.json"
        environment = {
            "PATH": str(folder),
            "FAILS": json.dumps(fails.get("fails", {})),
            "NO_DIGEST": str(fails.get("no_digest", "")),
        }
        command = [sys.executable, str(ROOT / "images/build.py"), f"--output={output}", *given]
        if base:
            command.append(f"--base={base}")
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return Made(
            done.returncode,
            done.stdout + done.stderr,
            json.loads(output.read_text()) if output.exists() else {},
            calls,
        )

    return run


@pytest.mark.parametrize("engine", ["podman", "docker", "buildah"])
def test_a_push_gives_digests_and_the_registry_is_asked_for_them(make, engine: str) -> None:
    made = make("--sets=tools trainer", "--push", "--registry=registry.example.org/team/", engines=(engine,))
    assert made.status == 0, made.said
    assert made.images == {name: f"registry.example.org/team/{name}@{DIGEST}" for name in ("tools", "trainer")}
    assert [call[-1] for call in made.calls_of("pull")] == [made.images["tools"], made.images["trainer"]]
    build = made.calls_of("build")[0]
    assert build[build.index("-t") + 1] == "registry.example.org/team/tools:0.1.0"
    given = {word.split("=")[0] for word, before in zip(build[1:], build, strict=False) if before == "--build-arg"}
    assert given >= {"BASE", "VERSION", "REVISION", "SOURCE", "CREATED"}
    assert build[-1] == str(ROOT)


@pytest.mark.parametrize("engine", ["podman", "docker", "buildah"])
def test_a_push_that_did_not_arrive_is_an_error(make, engine: str) -> None:
    fails = {f"pull registry.example.org/tools@{DIGEST}": [125, "Error: manifest unknown"]}
    made = make("--sets=tools", "--push", "--registry=registry.example.org", engines=(engine,), fails=fails)
    assert made.status == 1
    assert "says that registry.example.org/tools:0.1.0 was pushed, but the registry does not give out" in made.said
    assert "manifest unknown" in made.said
    assert made.images == {}


def test_a_push_without_a_digest_is_an_error(make) -> None:
    made = make("--sets=tools", "--push", "--registry=registry.example.org", no_digest="1")
    assert made.status == 1
    assert "names no digest" in made.said
    assert made.images == {}


def test_without_a_push_a_tag_is_written_and_said_so(make) -> None:
    made = make("--sets=tools,cpu", "--torch-index=https://torch.example.org/cpu")
    assert made.status == 0, made.said
    assert made.images == {"tools": "docker.io/gavel/tools:0.1.0", "cpu": "docker.io/gavel/cpu:0.1.0"}
    assert "nothing was pushed" in made.said
    assert not made.calls_of("push")
    tools, cpu = made.calls_of("build")
    assert "TORCH_INDEX=https://torch.example.org/cpu" in cpu
    assert not any("TORCH_INDEX" in word for word in tools)


def test_earlier_images_stay_in_the_file(make) -> None:
    make("--sets=tools")
    assert make("--sets=cpu", "--tag=2").images == {
        "tools": "docker.io/gavel/tools:0.1.0",
        "cpu": "docker.io/gavel/cpu:2",
    }


def test_further_options_reach_the_engine(make) -> None:
    made = make(
        "--sets=tools",
        "--push",
        "--registry=r.example.org",
        "--build-flags=--network host -v '/a b:/c:ro'",
        "--push-flags=--tls-verify=false",
    )
    build = made.calls_of("build")[0]
    assert build[-4:-1] == ["host", "-v", "/a b:/c:ro"]
    assert all("--tls-verify=false" in call for call in made.calls_of("push") + made.calls_of("pull"))


def test_the_base_is_resolved_to_its_digest(make) -> None:
    made = make("--sets=tools", base="registry.example.org/python:3.12-slim")
    assert made.status == 0, made.said
    (build,) = made.calls_of("build")
    assert f"BASE=registry.example.org/python:3.12-slim@{DIGEST}" in build
    assert f"BASE_DIGEST={DIGEST}" in build
    assert "BASE_NAME=registry.example.org/python:3.12-slim" in build


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        ({"build": [1, "write /var/x: no space left on device"]}, ["the disk is full", "no space left"]),
        ({"build": [1, "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE"]}, ["lock file"]),
        (
            {"build": [1, "ERROR: No matching distribution found for torch==2.13.0"]},
            ["package index lacks", "TORCH_INDEX"],
        ),
        ({"push": [1, "unauthorized: authentication required"]}, ["refuses these credentials", "podman login"]),
        ({"push": [1, "dial tcp: lookup r.example.org: no such host"]}, ["cannot be reached", "no such host"]),
        ({"push": [1, "http: server gave HTTP response to HTTPS client"]}, ["TLS"]),
        ({"push": [1, "something new"]}, ["podman push failed: something new"]),
    ],
)
def test_failures_say_what_to_do(make, fails: dict[str, object], told: list[str]) -> None:
    made = make("--sets=tools", "--push", "--registry=r.example.org", fails=fails)
    assert made.status == 1
    assert all(text in made.said for text in told), made.said
    assert "Traceback" not in made.said
    assert made.images == {}


def test_no_engine(make) -> None:
    made = make("--sets=tools", engines=())
    assert made.status == 1
    assert "no container engine: docker, podman, buildah not found" in made.said
    assert "apt-get install podman" in made.said


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--sets=tool"], "no set of dependencies 'tool'"),
        (["--push"], "a push needs a registry"),
        (["--engine=kaniko"], "unknown container engine 'kaniko'"),
        (["--engine=docker"], "docker not found"),
    ],
)
def test_wrong_words(make, given: list[str], told: str) -> None:
    made = make(*given)
    assert made.status == 1
    assert told in made.said
    assert not made.calls_of("build")


def test_a_disk_that_is_too_full_is_told_before_anything_is_built(make, monkeypatch: pytest.MonkeyPatch) -> None:
    sys.path.insert(0, str(ROOT / "images"))
    try:
        import build
        import container_engine
    finally:
        sys.path.remove(str(ROOT / "images"))
    monkeypatch.setattr(container_engine.Engine, "free_gigabytes", lambda self: 20.0)
    engine = container_engine.Engine("podman", "podman")
    build._require_disk(engine, ["tools", "cpu"])
    with pytest.raises(container_engine.BuildError, match="takes up to 40 GB at a time, 20 GB are free"):
        build._require_disk(engine, ["tools", "trainer"])


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("a/b:1", "a/b"),
        ("localhost:5000/a", "localhost:5000/a"),
        ("localhost:5000/a:1", "localhost:5000/a"),
        (f"a/b@{DIGEST}", "a/b"),
        (f"localhost:5000/b:2@{DIGEST}", "localhost:5000/b"),
    ],
)
def test_names_without_tag_and_digest(reference: str, name: str) -> None:
    sys.path.insert(0, str(ROOT / "images"))
    try:
        from container_engine import repository
    finally:
        sys.path.remove(str(ROOT / "images"))
    assert repository(reference) == name


def test_a_remote_s_credentials_are_not_in_the_labels(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "images"))
    try:
        from build import facts
    finally:
        sys.path.remove(str(ROOT / "images"))
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "3.2.1"\n')
    address = "https://someone:" + "hidden@git.example.org/team/gavel.git"

    def git(*words: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    git("init", "-q")
    git("remote", "add", "origin", address)
    git("add", "pyproject.toml")
    git("commit", "-q", "-m", "x")
    found = facts(tmp_path)
    assert found["SOURCE"] == "https://git.example.org/team/gavel.git"
    assert found["VERSION"] == "3.2.1"
    assert len(found["REVISION"]) == 40
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "4"\n')
    assert facts(tmp_path)["REVISION"].endswith("-dirty")
    assert os.environ.get("HOME", "x") not in json.dumps(found)
