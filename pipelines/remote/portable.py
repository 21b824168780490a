"""An experiment as text that another machine can read."""

from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.core.services.state import SOURCES, source_root
from components.core.spec import Experiment
from components.core.spec.yaml_core import CoreDumper


def portable(experiment: Experiment) -> str:
    """YAML of the resolved experiment, its hash in the first line, that a pod reads as this machine does.

    Files of this checkout are named by ``$GAVEL/...``, since an image has them in another folder.

    Raises:
        ConfigError: the experiment names a file that only this machine has.
    """
    text = yaml.dump(portable_tree(experiment), Dumper=CoreDumper, sort_keys=False, allow_unicode=True, width=110)
    return f"# experiment {experiment.name}, sha256 {experiment.digest()}\n{text}"


def portable_tree(experiment: Experiment) -> dict[str, Any]:
    """The same as a tree.

    Raises:
        ConfigError: the experiment names a file that only this machine has.
    """
    tree = experiment.model_dump(mode="json")
    if tree["policy"]["chat_template_text"] is not None:
        # Its content goes along.
        tree["policy"]["chat_template"] = None
    _check(tree["data"], "path", "data.path")
    if experiment.data.mixture is not None:
        for key, _ in experiment.data.mixture.files():
            file = tree["data"]["mixture"]
            for part in key.split("."):
                file = file[int(part) if part.isdigit() else part]
            _check(file, "path", f"data.mixture.{key}.path")
    if tree["evaluation"]["ifeval"]:
        _check(tree["evaluation"]["ifeval"], "path", "evaluation.ifeval.path")
    for where, source in (("policy.source", tree["policy"]["source"]), ("judge.source", tree["judge"]["source"])):
        if source and source["kind"] == "folder":
            _check(source, "path", f"{where}.path")
        if source and source["kind"] == "uri" and source["uri"].startswith("file:"):
            raise _only_here(source["uri"], f"{where}.uri")
    return tree


def _check(tree: dict[str, Any], key: str, where: str) -> None:
    path = tree[key]
    if path is None or str(path).startswith("s3://"):
        return
    root = source_root()
    if not Path(path).is_relative_to(root):
        raise _only_here(path, where)
    tree[key] = f"{SOURCES}{Path(path).relative_to(root).as_posix()}"


def _only_here(path: str, where: str) -> ConfigError:
    remedy = "put it into the store and name it as s3://bucket/key, or into configs/ and make the images again"
    return ConfigError(
        f"{path} is on this machine alone, and the pods of a cluster do not see it", where=where, remedy=remedy
    )
