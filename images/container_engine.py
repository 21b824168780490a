"""Docker, podman or buildah behind one interface; their failures in words that say what to do."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ENGINES = ("docker", "podman", "buildah")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ROOTS = {"docker": "{{.DockerRootDir}}", "podman": "{{.Store.GraphRoot}}", "buildah": "{{.store.GraphRoot}}"}
_CAUSES = (
    (r"no space left on device|disk quota exceeded", "the disk is full", "free some space where {engine} keeps images"),
    (
        r"unauthorized|authentication required|denied: |requested access to the resource is denied|403 \(?forbidden",
        "the registry refuses these credentials",
        "{engine} login to the registry, and see that the account may write there",
    ),
    (
        r"connection refused|no such host|i/o timeout|network is unreachable|name resolution|server misbehaving",
        "a server cannot be reached",
        "check the name, the network and a proxy (HTTPS_PROXY); a mirror of packages or a certificate of your own "
        'comes in by BUILD_FLAGS="..."',
    ),
    (
        r"http response to https client|x509|certificate",
        "the TLS of a server is not accepted",
        "add its authority to this machine's certificates",
    ),
    (
        r"hashes are required|do not match the hashes|hash mismatch",
        "a package is not the one in the lock file",
        "refuse it: a mirror serves something else; or write the lock files anew (make locks)",
    ),
    (
        r"no matching distribution|could not find a version",
        "a package index lacks a version of the lock file",
        "name a mirror that has it; for torch's CPU build set TORCH_INDEX (docs/setup.md)",
    ),
    (
        r"cannot connect to the docker daemon|is the docker daemon running",
        "the docker daemon does not run",
        "start it, or ENGINE=podman",
    ),
)


class BuildError(Exception):
    """What went wrong, and what to do."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}\n  {remedy}" if remedy else what)


@dataclass(frozen=True)
class Engine:
    """One container engine of this machine."""

    name: str
    program: str

    @staticmethod
    def find(wanted: str = "") -> "Engine":
        """The engine of that name, or the first one that is installed.

        Raises:
            BuildError: there is none, or the name is unknown.
        """
        if wanted and Path(wanted).name not in ENGINES:
            raise BuildError(f"unknown container engine {wanted!r}", f"ENGINE is one of {', '.join(ENGINES)}")
        for name in [wanted] if wanted else ENGINES:
            if program := shutil.which(name):
                return Engine(Path(name).name, program)
        raise BuildError(
            f"no container engine: {wanted or ', '.join(ENGINES)} not found",
            "install podman (apt-get install podman), buildah or docker, or name one: ENGINE=podman",
        )

    def free_gigabytes(self) -> float | None:
        """Free disk where images are kept; None where that is another machine, or not known."""
        done = self._run(["info", "--format", _ROOTS[self.name]], check=False)
        root = Path(done.stdout.strip() or "/nowhere")
        return shutil.disk_usage(root).free / 1e9 if root.is_dir() else None

    def build(
        self, dockerfile: Path, context: Path, reference: str, arguments: Mapping[str, str], flags: Sequence[str] = ()
    ) -> None:
        """Build an image and give it the name ``reference``; what the engine says is printed as it comes."""
        command = ["build", "-t", reference, "-f", str(dockerfile)]
        if self.name != "docker":
            # Docker's image format, since OCI's has no health checks and older registries refuse it.
            command += ["--format", "docker"]
        for name, value in arguments.items():
            command += ["--build-arg", f"{name}={value}"]
        self._run([*command, *flags, str(context)], show=True)

    def image_id(self, reference: str) -> str:
        """Of an image on this machine."""
        if self.name == "buildah":
            return str(json.loads(self._run(["inspect", "--type", "image", reference]).stdout)["FromImageID"])
        return self._run(["image", "inspect", "--format", "{{.Id}}", reference]).stdout.strip()

    def labels(self, reference: str) -> dict[str, str]:
        """Labels of an image on this machine."""
        if self.name == "buildah":
            found = json.loads(self._run(["inspect", "--type", "image", reference]).stdout)["OCIv1"]["config"]
        else:
            found = json.loads(self._run(["image", "inspect", reference]).stdout)[0]["Config"]
        return dict(found.get("Labels") or {})

    def resolve(self, reference: str, flags: Sequence[str] = ()) -> str | None:
        """Pull an image and return its digest in its registry; None for one of this machine alone.

        Raises:
            BuildError: it cannot be pulled.
        """
        if reference.startswith("localhost/"):
            return None
        self._run(["pull", *flags, reference], show=True)
        return self._repository_digest(reference)

    def push(self, reference: str, flags: Sequence[str] = ()) -> str:
        """Push an image and return ``name@sha256:...``, after the registry has given the image out by that digest.

        Engines and the tools around them have said "pushed" of what never arrived, so their word is not enough.

        Raises:
            BuildError: the push failed, or the registry does not have what was pushed.
        """
        name = repository(reference)
        digest: str | None
        if self.name == "docker":
            self._run(["push", *flags, reference], show=True)
            digest = self._repository_digest(reference)
        else:
            with tempfile.TemporaryDirectory() as folder:
                note = Path(folder, "digest")
                self._run(["push", *flags, "--digestfile", str(note), reference], show=True)
                digest = note.read_text().strip() if note.is_file() else None
        if not digest or not _DIGEST.fullmatch(digest):
            raise BuildError(
                f"{self.name} says that {reference} was pushed, but names no digest", "push it again; see its output"
            )
        pinned = f"{name}@{digest}"
        always = ["--policy", "always"] if self.name == "buildah" else []
        done = self._run(["pull", *always, *flags, pinned], check=False)
        if done.returncode:
            raise BuildError(
                f"{self.name} says that {reference} was pushed, but the registry does not give out {pinned}: "
                f"{_last_line(done.stderr)}",
                "push it again, and look at the registry's log and its free disk",
            )
        return pinned

    def _repository_digest(self, reference: str) -> str | None:
        if self.name == "buildah":
            found = json.loads(self._run(["inspect", "--type", "image", reference]).stdout)["FromImageDigest"]
            return str(found) or None
        text = self._run(["image", "inspect", "--format", "{{json .RepoDigests}}", reference]).stdout
        for entry in json.loads(text) or []:
            if _bare(entry.partition("@")[0]) == _bare(repository(reference)):
                return str(entry.partition("@")[2])
        return None

    def _run(
        self, arguments: Sequence[str], *, check: bool = True, show: bool = False
    ) -> "subprocess.CompletedProcess[str]":
        environment = {"BUILDAH_ISOLATION": "chroot", **os.environ} if self.name == "buildah" else dict(os.environ)
        command = [self.program, *arguments]
        if not show:
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        else:
            done = _shown(command, environment)
        if check and done.returncode:
            raise self._error(arguments[0], done.stdout + done.stderr)
        return done

    def _error(self, action: str, output: str) -> BuildError:
        for pattern, what, remedy in _CAUSES:
            if found := re.search(f".*(?:{pattern}).*", output, re.IGNORECASE):
                said = found.group().strip()[-300:]
                return BuildError(f"{self.name} {action} failed: {what}: {said}", remedy.format(engine=self.name))
        return BuildError(f"{self.name} {action} failed: {_last_line(output)}", "its output above says more")


def repository(reference: str) -> str:
    """An image's name without tag and digest."""
    name = reference.partition("@")[0]
    head, colon, tail = name.rpartition(":")
    return head if colon and "/" not in tail else name


def _bare(name: str) -> str:
    """As Docker writes names of its own hub."""
    return name.removeprefix("docker.io/").removeprefix("library/")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-300:] if lines else "it said nothing"


def _shown(command: Sequence[str], environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run with the output passed on as it comes, and kept."""
    kept: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=dict(environment)
    ) as process:
        assert process.stdout
        for line in process.stdout:
            sys.stderr.write(line)
            kept.append(line)
            del kept[:-400]
    return subprocess.CompletedProcess(list(command), process.returncode, "".join(kept), "")
