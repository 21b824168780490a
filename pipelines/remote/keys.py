"""Whether the Secrets of the cluster have the judges' keys that a run will want.

Every step that judges gets the variables of all judges of configs/ and of the experiment by reference, each optional: a
rerun from KFP's page may name another judge, and one whose key is not there must not keep the others from starting. So
no pod tells of a key that is missing before a judge is asked.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from components.core.errors import GavelError
from pipelines.on_cluster import key_variables, kubernetes_of

if TYPE_CHECKING:
    from components.core.spec import Experiment

_PATIENCE = 5.0
"""Seconds for the Kubernetes API: whoever submits needs no way to it."""


def key_notes(experiments: Sequence["Experiment"], runs: str, *, trains: bool) -> Iterator[str]:
    """What is not known of the keys of the experiment's own judges, or known to be missing; nothing where all is well.

    Of Secrets the names of keys are looked at alone, and only those of the cluster of the current context.

    Args:
        experiments: what is submitted: one, or a study's arms; of one cluster.
        runs: the namespace of the run's steps.
        trains: whether trainers need the keys, too, in the namespace of their own.
    """
    wanted = sorted(key_variables([judge for each in experiments for judge in each.served()]))
    if not wanted:
        return
    kubernetes = kubernetes_of(experiments[0].cluster)
    secret = kubernetes.judge_secret
    for space in dict.fromkeys([runs, *([kubernetes.namespace] if trains else [])]):
        try:
            there = _keys(space, secret)
        except GavelError as error:
            yield (
                f"whether Secret {secret} in {space} has {', '.join(wanted)} cannot be seen from here ({error.what}); "
                f"without it judges give no verdict. See kubectl -n {space} describe secret {secret}"
            )
            continue
        missing = [name for name in wanted if name not in there]
        if missing:
            yield (
                f"Secret {secret} in {space} has no {' and no '.join(missing)}, and steps there will miss it: kubectl "
                f"-n {space} edit secret {secret}, or make it as make deploy says"
            )


def _keys(namespace: str, name: str) -> set[str]:
    """Those of the Secret's keys that have a value; none where there is no such Secret."""
    from components.kube.cluster import Cluster
    from components.kube.kinds import SECRETS

    found = Cluster.connect(namespace, patience=_PATIENCE).get(SECRETS, name) or {}
    return {str(key) for key, value in (found.get("data") or {}).items() if value}
