"""Whether a checkpoint is of the model that the experiment calls its policy."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from components.core.errors import ConfigError, GavelError
from components.core.progress import Progress
from components.core.spec.source import FolderSource, HubSource, ModelSource, PackageSource
from components.models.materialize import cache_folder, materialize, on_this_machine, package_file

if TYPE_CHECKING:
    from components.checkpoint.locate import Located
    from components.core.spec import Experiment

SHAPE: Final = {
    "model_type": "architecture",
    "hidden_size": "hidden size",
    "num_hidden_layers": "layers",
    "vocab_size": "vocabulary",
}
"""Keys of config.json that two checkpoints of one model share, and what they are called in messages."""


def check_same_model(located: "Located", experiment: "Experiment", state: Path, progress: Progress) -> None:
    """Refuse a checkpoint of another model than the policy, whose prompts, context and baseline would be wrong for it.

    Args:
        located: the checkpoint.
        experiment: for its policy.
        state: the state folder, with the models converted before.
        progress: is told where the policy's configuration cannot be had on this machine, so that nothing is compared.

    Raises:
        ConfigError: architecture, hidden size, number of layers or vocabulary are others.
    """
    policy = experiment.policy
    path = located.folder / "config.json" if located.merged else located.folder / "huggingface" / "config.json"
    mine = _read(path)
    try:
        known = policy_shape(policy.source, state)
    except GavelError as error:
        known, why = None, f": {error.what}"
    else:
        why = " is not on this machine"
    if mine is None or known is None:
        reason = f"{path} is not readable" if mine is None else f"the configuration of policy {policy.name}{why}"
        progress.phase(f"WARNING: not checked that the checkpoint is of the experiment's policy; {reason}")
        return
    other = [
        f"{name} {mine[key]} (policy: {known[key]})"
        for key, name in SHAPE.items()
        if key in mine and key in known and mine[key] != known[key]
    ]
    if other:
        raise ConfigError(
            f"the checkpoint is of another model than policy {policy.name}: {', '.join(other)}",
            where=str(path),
            remedy='name the policy that it was trained from, as SET="policy=NAME" (a name in configs/policies), or '
            "the EXPERIMENT that trained it",
        )


def policy_shape(source: ModelSource, state: Path) -> Mapping[str, Any] | None:
    """The values of :data:`SHAPE` that are known of a model; None where nothing is without fetching it.

    Raises:
        GavelError: the source is of this machine, and is not there.
    """
    if isinstance(source, HubSource):
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(source.repo, "config.json", revision=source.revision)
        return _read(Path(found)) if isinstance(found, str) else None
    if isinstance(source, PackageSource) and on_this_machine(source, state) is None:
        return _of_gguf(package_file(source))
    folder = materialize(source, cache_folder(state))
    known = _read(folder / "config.json")
    if known is None and isinstance(source, FolderSource):
        raise GavelError("its config.json is not readable", where=str(folder))
    return known


def _read(path: Path) -> Mapping[str, Any] | None:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict):
        return None
    # Models of several modalities keep these one level below.
    inner = config.get("text_config")
    both = {**(inner if isinstance(inner, dict) else {}), **config}
    return {key: both[key] for key in SHAPE if both.get(key) is not None}


def _of_gguf(path: Path) -> Mapping[str, Any]:
    """From the file's own metadata, since a conversion takes half a minute."""
    from gguf import GGUFReader

    reader = GGUFReader(str(path))

    def value(key: str) -> Any:
        found = reader.get_field(key)
        return None if found is None else found.contents()

    family = value("general.architecture")
    tokens = reader.get_field("tokenizer.ggml.tokens")
    known = {
        "model_type": family,
        "hidden_size": value(f"{family}.embedding_length"),
        "num_hidden_layers": value(f"{family}.block_count"),
        "vocab_size": None if tokens is None else len(tokens.data),
    }
    return {key: entry for key, entry in known.items() if entry is not None}
