"""Compiling the pipelines to what a cluster runs."""

from collections.abc import Sequence
from pathlib import Path

from components.core.spec.cluster import ClusterSpec
from pipelines.graphs import NAMES, graph_named
from pipelines.placing import Placing


def compile_pipelines(
    folder: Path,
    cluster: ClusterSpec,
    *,
    names: Sequence[str] = NAMES,
    further_keys: Sequence[str] = (),
    allow_tags: bool = False,
    images_file: Path | None = None,
    claims: bool = True,
) -> list[Path]:
    """Write one YAML file a pipeline into ``folder``, and return the paths.

    Args:
        folder: made when it is missing.
        cluster: of placement kubernetes; its nodes, Secrets and claims are named in the files.
        names: which pipelines.
        further_keys: variables with API keys of judges beyond those that are shipped.
        allow_tags: whether images may be named by tags instead of digests.
        images_file: see :func:`components.core.images.pinned`.
        claims: see :class:`pipelines.on_cluster.OnCluster`.

    Raises:
        ConfigError: the cluster is this machine, or an image has no digest.
    """
    from pipelines.catalogue import judge_keys
    from pipelines.on_cluster import OnCluster

    keys = judge_keys() | set(further_keys)
    placing = OnCluster(cluster, judge_keys=keys, allow_tags=allow_tags, images_file=images_file, claims=claims)
    return [write(folder / f"{name}.yaml", name, placing) for name in names]


def write(path: Path, name: str, placing: Placing) -> Path:
    """Compile one pipeline into ``path``.

    Args:
        path: its folder is made when it is missing.
        name: one of ``NAMES``.
        placing: what is set on the tasks.
    """
    from kfp import compiler

    path.parent.mkdir(parents=True, exist_ok=True)
    compiler.Compiler().compile(graph_named(name)(placing), str(path))
    return path
