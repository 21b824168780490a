"""kubectl as a child process: the user's own way to the cluster, with its plugins for credentials."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import GavelError

Object = dict[str, Any]
Objects = list[Object]
Lines = list[str]
# Named here: in the class ``list`` is the method.
_SECONDS = 120.0
_MANAGER = "gavel-deploy"
_ABSENT = ("NotFound", "the server doesn't have a resource type", "no matches for kind")


class SetupError(GavelError):
    """The cluster cannot be set up, or refused what it was given."""


class Kubectl:
    """One program and one context of the kubeconfig. Every method raises SetupError in kubectl's own words."""

    def __init__(self, program: str, context: str | None = None) -> None:
        self._program = program
        self._context = context

    @classmethod
    def find(cls, context: str | None = None) -> "Kubectl":
        """The kubectl of $PATH, else the one of this Python environment."""
        beside = Path(sys.executable).parent / "kubectl"
        found = shutil.which("kubectl") or (str(beside) if os.access(beside, os.X_OK) else None)
        if found is None:
            raise SetupError(
                "kubectl is not installed",
                where="$PATH",
                remedy="install it (kubernetes.io/docs/tasks/tools), or `make check`, which puts one into .venv/bin",
            )
        return cls(found, context)

    def run(self, *arguments: str, given: str | None = None, seconds: float = _SECONDS) -> str:
        """Run kubectl, and return its output."""
        words = [*(["--context", self._context] if self._context else []), *arguments]
        try:
            done = subprocess.run(
                [self._program, *words], input=given, capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise SetupError(
                f"no answer within {seconds:.0f} s",
                where=_shown(words),
                remedy="see that the cluster answers: kubectl get nodes",
            ) from error
        if done.returncode:
            raise SetupError(
                done.stderr.strip().removeprefix("error: ") or f"kubectl ended with {done.returncode}",
                where=_shown(words),
                remedy=_remedy(done.stderr),
            )
        return done.stdout

    def describe(self) -> str:
        """Context and version of the cluster, once it answers."""
        context = self._context or self.run("config", "current-context").strip()
        return f"context {context}, Kubernetes {self.version() or 'of unknown version'}"

    def version(self) -> str:
        """The cluster's, such as v1.33.1; "" where it does not say."""
        told = json.loads(self.run("version", "-o", "json", seconds=30)).get("serverVersion") or {}
        return str(told.get("gitVersion") or "")

    def json(self, *arguments: str) -> Object:
        """The parsed output of a command that takes ``-o json``."""
        answer = json.loads(self.run(*arguments, "-o", "json"))
        if not isinstance(answer, dict):
            raise SetupError("kubectl's answer is no object", where=_shown(arguments), remedy="look at it by hand")
        return answer

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """One object, or None where neither it nor its kind is there."""
        try:
            return self.json("get", kind, name, *_in(namespace))
        except SetupError as error:
            if is_absent(error):
                return None
            raise

    def list(self, kind: str, namespace: str | None = None, *selection: str) -> Objects:
        """The objects of a kind; none where the kind is not there."""
        try:
            return [*self.json("get", kind, *_in(namespace), *selection)["items"]]
        except SetupError as error:
            if is_absent(error):
                return []
            raise

    def present(self, objects: Iterable[Mapping[str, Any]]) -> Objects:
        """Those of the objects that are there, as they are."""
        answer = self.run("get", "--ignore-not-found", "-o", "json", "-f", "-", given=dump(objects))
        found = json.loads(answer) if answer.strip() else {"items": []}
        return [*found["items"]] if "items" in found else [found]

    def build(self, folder: Path) -> Objects:
        """The objects that a kustomize folder describes. Asks no cluster."""
        text = self.run("kustomize", str(folder))
        return [item for item in yaml.safe_load_all(text) if item]

    def apply(self, objects: Iterable[Mapping[str, Any]]) -> Lines:
        """Server-side apply, one line of kubectl's for each object."""
        return self.run(
            *("apply", "--server-side", "--force-conflicts", f"--field-manager={_MANAGER}", "-f", "-"),
            given=dump(objects),
        ).splitlines()

    def delete(self, objects: Iterable[Mapping[str, Any]], seconds: float) -> Lines:
        """Delete the objects that are there, and wait until they are gone."""
        return self.run(
            *("delete", "--ignore-not-found", f"--timeout={seconds:.0f}s", "-f", "-"),
            given=dump(objects),
            seconds=seconds + _SECONDS,
        ).splitlines()


def is_absent(error: SetupError) -> bool:
    """Whether kubectl failed because what was asked for, or its kind, is not there."""
    return any(word in error.what for word in _ABSENT)


def dump(objects: Iterable[Mapping[str, Any]]) -> str:
    """The objects as one YAML text."""
    return yaml.safe_dump_all([dict(item) for item in objects], sort_keys=False, width=120)


def _remedy(said: str) -> str:
    if "current-context is not set" in said or re.search(r'context "?[^"\n]+"? does not exist', said):
        return (
            "name a context by CONTEXT=... (kubectl config get-contexts lists them), "
            "and by KUBECONFIG the file that has it"
        )
    if "timed out waiting for the condition" in said:
        return "something holds it, such as a pod that mounts a claim: kubectl describe it; then run the same again"
    return "see that the context is the right one and may do this: kubectl auth whoami"


def _in(namespace: str | None) -> list[str]:
    return ["-n", namespace] if namespace else []


def _shown(words: Iterable[str]) -> str:
    return " ".join(["kubectl", *words])
