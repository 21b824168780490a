"""Where the pod of a judge finds its weights."""

import posixpath
from typing import TYPE_CHECKING, Final

from components.core.errors import ConfigError
from components.core.spec.deployment import CPU_RUNTIME
from components.core.spec.kubernetes import MODELS
from components.core.spec.source import FolderSource, HubSource, PackageSource, TinySource, UriSource

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_CONFIG, _INSIDE = "config.json", "model"
MOUNT: Final = "/mnt/models"
"""Where KServe puts what storageUri names."""


def located(spec: "JudgeSpec") -> str | None:
    """The URL of the very folder that holds a model of an S3 store; None for other sources.

    A folder that merge-checkpoint published has the model in ``model``; KServe fetches a folder as it is and knows of
    no manifests. Asks the store.

    Raises:
        ConfigError: there is no model at the URL.
        StorageError: the store does not answer.
    """
    source = spec.source
    if not isinstance(source, UriSource) or not source.uri.startswith("s3://"):
        return None
    from components.core.store import Store
    from components.core.store.keys import join, join_url, split_uri

    head, key = split_uri(source.uri)
    store = Store.open(head)
    for inside in ("", _INSIDE):
        if store.exists(join(key, inside, _CONFIG)):
            return join_url(source.uri, inside)
    raise ConfigError(
        f"there is no {_CONFIG} of a model at this URL, nor in {_INSIDE}/ below it",
        where=f"judge {spec.name}: source.uri {source.uri}",
        remedy="name the folder that merge-checkpoint published, or one with a model in Hugging Face layout",
    )


def storage_uri(spec: "JudgeSpec", claim: str | None) -> str | None:
    """KServe's storageUri; None for weights that the CPU server makes itself (packages, and the wiring model).

    Args:
        spec: the judge.
        claim: name of the volume claim with model weights.

    Raises:
        ConfigError: no pod can get at the weights.
    """
    where, source = f"judge {spec.name}: source", spec.source
    if isinstance(source, HubSource):
        return f"hf://{source.repo}:{source.revision}"
    if isinstance(source, FolderSource):
        return _on_claim(source.path, claim, where)
    if isinstance(source, UriSource):
        if source.uri.startswith("s3://"):
            return source.uri
        return _on_claim(source.uri.removeprefix("file://"), claim, where)
    if isinstance(source, PackageSource | TinySource):
        if spec.deployment.runtime != CPU_RUNTIME:
            raise ConfigError(
                f"{source.kind} is read by our own server alone, and the runtime is {spec.deployment.runtime}",
                where=where,
                remedy=f"set deployment.runtime: {CPU_RUNTIME}, or take the weights from hub, folder or uri",
            )
        return None
    raise ConfigError("the judge has no weights to serve", where=where, remedy="give source, or set serving: external")


def _on_claim(path: str, claim: str | None, where: str) -> str:
    inside = posixpath.relpath(path, MODELS)
    if claim is not None and inside != "." and not inside.startswith(".."):
        return f"pvc://{claim}/{inside}"
    there = "the cluster has no model_claim" if claim is None else f"claim {claim} is mounted at {MODELS}"
    raise ConfigError(
        f"no pod of the cluster sees the folder {path}: {there}",
        where=where,
        remedy=f"put the weights on the claim and name them as {MODELS}/FOLDER, or take them from hub or s3://",
    )
