"""What every Dockerfile keeps to."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from components.core.images import USER
from components.core.spec.workflow_buffer import MINILM

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "images"
FILES = sorted(IMAGES.glob("*.Dockerfile"))
LOCKS = IMAGES / "locks"
CUDA = ("trainer", "serving", "evaluation")
LABELS = {"title", "description", "licenses", "source", "revision", "version", "created", "base.name", "base.digest"}


def instructions(path: Path) -> list[tuple[str, str]]:
    """Pairs of instruction and arguments; comments dropped, continued lines joined."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(line.split(None, 1)[0].upper(), line.split(None, 1)[1]) for line in joined.splitlines()]


def of(path: Path, name: str) -> list[str]:
    return [arguments for instruction, arguments in instructions(path) if instruction == name]


def test_there_is_one_for_each_set() -> None:
    assert [path.name.removesuffix(".Dockerfile") for path in FILES] == [
        "cpu",
        "evaluation",
        "serving",
        "tools",
        "trainer",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
class TestDockerfile:
    def test_two_stages_from_one_base_that_is_given(self, path: Path) -> None:
        assert of(path, "FROM") == ["${BASE} AS builder", "${BASE} AS runtime"]
        (default,) = [given for given in of(path, "ARG") if given.startswith("BASE=")]
        assert default == f"BASE={(IMAGES / 'base.txt').read_text().split('@')[0].strip()}"

    def test_no_image_is_latest(self, path: Path) -> None:
        assert "latest" not in path.read_text()
        for given in of(path, "ARG"):
            if given.startswith("BASE="):
                assert re.fullmatch(r"BASE=[a-z0-9./-]+:[0-9][\w.-]+", given)

    def test_the_last_user_is_a_number_and_not_root(self, path: Path) -> None:
        user = of(path, "USER")[-1]
        assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user), user
        assert user == f"{USER}:{USER}"
        # Nothing is installed or copied after it.
        names = [name for name, _ in instructions(path)]
        assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])

    def test_labels(self, path: Path) -> None:
        (labels,) = of(path, "LABEL")
        found = dict(re.findall(r'org\.opencontainers\.image\.([\w.]+)="([^"]*)"', labels))
        assert found.keys() == LABELS
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert found["licenses"] == project["license"]
        for name in ("SOURCE", "REVISION", "VERSION", "CREATED", "BASE_NAME", "BASE_DIGEST"):
            assert any(value == f"${{{name}}}" for value in found.values()), name

    def test_no_secret_and_no_network_but_packages(self, path: Path) -> None:
        text = path.read_text()
        assert not re.search(r"(?i)(token|password|secret|credential|api_key|_netrc)", text)
        assert not re.search(r"https?://", text)
        assert not of(path, "ADD")
        for copied in of(path, "COPY"):
            sources = copied.split()[:-1]
            assert "." not in sources
            assert all(
                source.startswith(("images/locks/", "components", "pipelines", "configs", "LICENSE", "--from=", "/"))
                for source in sources
            ), copied

    def test_packages_come_from_lock_files_by_hash(self, path: Path) -> None:
        installs = re.findall(r"pip install [^&\n]*", re.sub(r"\\\n\s*", " ", path.read_text()))
        assert installs
        for command in installs:
            assert "--no-deps" in command
            (lock,) = re.findall(r"-r /locks/([\w-]+\.txt)", command)
            assert (LOCKS / lock).is_file()
            # The build of torch is chosen where the CPU image is built.
            assert "--require-hashes" in command or (lock == "torch.txt" and path.name == "cpu.Dockerfile")

    def test_nothing_is_written_into_the_image_where_it_runs(self, path: Path) -> None:
        (environment,) = [given for given in of(path, "ENV") if given.startswith("PATH=")]
        values = dict(item.split("=", 1) for item in environment.split())
        assert values["PYTHONDONTWRITEBYTECODE"] == "1"
        opened = next(command for command in of(path, "RUN") if "chmod 1777" in command)
        assert values["HOME"] in opened
        assert values.get("GAVEL_STATE", values["HOME"]) in opened
        for name, value in values.items():
            if name.endswith(("CACHE_DIR", "CONFIGDIR")):
                assert value.startswith("/tmp/")

    def test_commands_are_lists(self, path: Path) -> None:
        """A shell in front would keep signals from the program."""
        for name in ("CMD", "ENTRYPOINT"):
            for given in of(path, name):
                assert isinstance(json.loads(given), list)


def test_ray_s_probes_have_their_programs() -> None:
    """KubeRay's default probes run bash, wget and grep in the container; Debian's base lacks only wget."""
    for name in ("trainer", "cpu"):
        assert any("wget" in command for command in of(IMAGES / f"{name}.Dockerfile", "RUN")), name


def pins(name: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([\w.+!-]+)", (LOCKS / f"{name}.txt").read_text(), re.MULTILINE)
    return {package.lower().replace("_", "-"): version for package, version in found}


@pytest.mark.parametrize("name", ["tools", "sentences", "encoder", *CUDA])
def test_lock_files_hash_every_package_and_name_no_index(name: str) -> None:
    text = (LOCKS / f"{name}.txt").read_text()
    assert "://" not in text
    assert "--index" not in text
    for block in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in block, block[:80]


def test_pins_that_verl_and_vllm_need() -> None:
    """From the packages' own metadata: verl 0.9.1's [vllm] extra, and vLLM's torch."""
    found = pins("trainer")
    assert {name: found[name] for name in ("verl", "vllm", "torch", "torchvision", "torchaudio", "transformers")} == {
        "verl": "0.9.1",
        "vllm": "0.24.0",
        "torch": "2.11.0",
        "torchvision": "0.26.0",
        "torchaudio": "2.11.0",
        "transformers": "5.9.0",
    }
    # A resolver with wheels alone falls back to 0.11; the default trainer imports what plain verl lacks.
    assert found["hydra-core"] == "1.3.2"
    assert {"transferqueue", "ray", "tensordict", "peft", "nvtx", "cachetools"} <= found.keys()
    assert "flash-attn" not in found


def test_steps_have_the_same_packages_wherever_they_run() -> None:
    """A step's identity has the versions of what decides its result; they must not differ between images."""
    local = pins("local")
    deciding = ("nltk", "langdetect", "math-verify", "latex2sympy2-extended", "antlr4-python3-runtime", "transformers")
    for name in ("tools", "evaluation", "trainer"):
        found = pins(name)
        assert {package: found[package] for package in deciding} == {package: local[package] for package in deciding}
    assert pins("serving")["vllm"] == pins("evaluation")["vllm"] == pins("trainer")["vllm"]


def test_the_buffer_s_embedder_is_where_trainings_run() -> None:
    """Its vectors decide what the policy is shown, and its version is the specification's."""
    wanted = {MINILM.package: MINILM.version}
    assert pins("encoder") == wanted
    assert pins("models").items() >= wanted.items()
    assert "/locks/encoder.txt" in (IMAGES / "trainer.Dockerfile").read_text()


def test_kubernetes_client_is_the_one_that_kfp_allows() -> None:
    for name in ("tools", "evaluation", "trainer", "local"):
        assert int(pins(name)["kubernetes"].split(".")[0]) < 31


def test_torch_is_only_where_it_is_used() -> None:
    assert "torch" not in pins("tools")
    assert "torch" not in pins("local"), "its build is chosen"


def test_context_holds_only_what_is_copied() -> None:
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert lines[0] == "*"
    assert {line for line in lines if line.startswith("!")} == {
        "!components",
        "!pipelines",
        "!configs",
        "!images/locks/*.txt",
        "!LICENSE",
    }
    assert "**/.env" in lines
