"""The Secrets that a cluster must have. They are made by the user, never by these programs and never from the tree."""

import base64
import binascii
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from components.cluster_setup.kubectl import Kubectl
from components.cluster_setup.objects import NAMESPACE, Object, namespace

STORE = "gavel-store"
ACCESS, SECRET = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
JUDGES = "gavel-judge-keys"


@dataclass(frozen=True)
class Lack:
    """What is wrong with the store's Secret of one namespace: ``missing``, or what it lacks or contradicts."""

    namespace: str
    what: str

    def __str__(self) -> str:
        return f"Secret {STORE} in the namespace {self.namespace} {self.what}"


def run_namespaces(objects: Iterable[Object]) -> list[str]:
    """The namespaces in which pods of runs live (those with the steps' service account), Gavel's own first."""
    accounts = [item for item in objects if item["kind"] == "ServiceAccount"]
    found = {namespace(item) or NAMESPACE for item in accounts if item["metadata"]["name"] == "gavel-pipeline"}
    return [NAMESPACE, *sorted(found - {NAMESPACE})]


def lacks(kubectl: Kubectl, namespaces: Sequence[str]) -> tuple[list[Lack], list[str]]:
    """The store's Secrets that are not as they must be, and the namespaces in which they are.

    Values are compared and nowhere shown: one credential in two namespaces must be the same.
    """
    wrong: list[Lack] = []
    right: list[str] = []
    values: tuple[str, ...] | None = None
    for space in namespaces:
        secret = kubectl.get("secret", STORE, space)
        if secret is None:
            wrong.append(Lack(space, "is missing"))
            continue
        data = secret.get("data") or {}
        empty = [key for key in (ACCESS, SECRET) if not _holds(str(data.get(key) or ""))]
        if empty:
            wrong.append(Lack(space, f"has no {' and no '.join(empty)}"))
        elif values is not None and values != (data[ACCESS], data[SECRET]):
            wrong.append(Lack(space, f"has other values than that in {right[0]}"))
        else:
            values = (data[ACCESS], data[SECRET])
            right.append(space)
    return wrong, right


def without_judge_keys(kubectl: Kubectl, namespaces: Iterable[str]) -> list[str]:
    """The namespaces without the Secret of external judges' keys, which only experiments with such judges need."""
    return [space for space in namespaces if kubectl.get("secret", JUDGES, space) is None]


def commands(wrong: Iterable[Lack], right: Sequence[str]) -> list[str]:
    """What to type. The user's shell makes the value or reads it from the Secret that is there; it reaches no file."""
    if right:
        lines = [
            f"{name}=\"$(kubectl get secret {STORE} -n {right[0]} -o jsonpath='{{.data.{key}}}' | base64 -d)\""
            for name, key in (("KEY", ACCESS), ("SECRET", SECRET))
        ]
    else:
        lines = ["KEY=gavel", 'SECRET="$(openssl rand -hex 24)"']
    for lack in wrong:
        if lack.what != "is missing":
            lines.append(f"kubectl delete secret {STORE} -n {lack.namespace}")
        lines.append(
            f"kubectl create secret generic {STORE} -n {lack.namespace} "
            f'--from-literal={ACCESS}="$KEY" --from-literal={SECRET}="$SECRET"'
        )
    return lines


def _holds(value: str) -> bool:
    try:
        return bool(base64.b64decode(value, validate=True).strip())
    except binascii.Error:
        return False
