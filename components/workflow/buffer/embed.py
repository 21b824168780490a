"""Problems as vectors: the mean of a small local model's last states, so that a cosine says how similar two are."""

import functools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from components.core.errors import ContractError, GavelError
from components.core.manifest import sha256_file
from components.core.spec.workflow_buffer import EmbedderSpec, EncoderPackage, EncoderSource

_METHOD = "mean1"
"""Part of the version; raise it when the same weights come to give other vectors."""


class Embedder(Protocol):
    """What gives texts vectors."""

    @property
    def name(self) -> str:
        """Of the model, for people."""

    @property
    def version(self) -> str:
        """Changes with anything that changes a vector; vectors of two versions are never compared."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row of length 1 a text, shape (n, d). A text's row does not depend on the others."""


def build_embedder(spec: EmbedderSpec, cache: Path) -> "LocalEmbedder":
    """The embedder of a specification. Nothing is loaded before it is first asked.

    Args:
        spec: which model, and how it reads.
        cache: folder of converted models (:func:`components.models.materialize.cache_folder`).
    """
    return LocalEmbedder(spec, cache)


class LocalEmbedder:
    """A model on this machine's CPU. For use from any thread, one at a time."""

    def __init__(self, spec: EmbedderSpec, cache: Path) -> None:
        self._spec = spec
        self._cache = cache
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Package, repository or folder."""
        source = self._spec.source
        if isinstance(source, EncoderPackage):
            return f"{source.package} {source.version}"
        return source.kind + " " + str(getattr(source, "repo", getattr(source, "path", getattr(source, "uri", ""))))

    @functools.cached_property
    def version(self) -> str:
        """By the content of the weights, the window and the method.

        Raises:
            GavelError: the model is not there, or its weights are not what they should be.
        """
        found = ":".join(sha256_file(path) for path in sorted(self._folder.glob("*.safetensors")))
        wanted = self._spec.source.sha256 if isinstance(self._spec.source, EncoderPackage) else None
        if not found or (wanted and found != wanted):
            raise GavelError(
                f"the weights of {self.name} have sha256 {found[:12] or 'none'}…, not {(wanted or 'any')[:12]}…",
                where=str(self._folder),
                remedy="install the package again from images/locks/models.txt, or correct embedder.source.sha256",
            )
        return f"{found[:16]}-{_METHOD}-{self._spec.window_tokens}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See :meth:`Embedder.embed`.

        Raises:
            GavelError: the model cannot be loaded.
            ContractError: a text is blank, or its vector is not finite.
        """
        with self._lock:
            # Checked before the weights are used.
            _ = self.version
            rows = [self._row(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self._width), np.float32)

    @functools.cached_property
    def _folder(self) -> Path:
        return encoder_folder(self._spec.source, self._cache)

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModel, AutoTokenizer

        try:
            tokenizer = AutoTokenizer.from_pretrained(self._folder, local_files_only=True)
            model, found = AutoModel.from_pretrained(
                self._folder, local_files_only=True, output_loading_info=True, dtype=torch.float32
            )
        except (OSError, ValueError, RuntimeError) as error:
            first = (str(error).strip().splitlines() or [repr(error)])[0]
            raise GavelError(f"the embedder {self.name} cannot be loaded: {first}", where=str(self._folder)) from error
        # transformers fills weights that are missing with random numbers.
        if wrong := [*found["missing_keys"], *found["mismatched_keys"]]:
            raise GavelError(f"the embedder {self.name} lacks weights, such as {wrong[0]}", where=str(self._folder))
        return model.eval(), tokenizer

    @property
    def _width(self) -> int:
        return int(self._loaded[0].config.hidden_size)

    def _row(self, text: str) -> npt.NDArray[np.float32]:
        import torch

        if not text.strip():
            raise ContractError("a blank text has no embedding")
        model, tokenizer = self._loaded
        longest = min(self._spec.window_tokens, int(model.config.max_position_embeddings))
        windows = tokenizer(text, truncation=True, max_length=longest, return_overflowing_tokens=True)["input_ids"]
        total, count = np.zeros(self._width), 0
        with torch.inference_mode():
            # One window at a time: beside others it would be padded, and get other last digits.
            for ids in windows:
                states = model(input_ids=torch.tensor([ids])).last_hidden_state[0].double()
                total += states.sum(0).numpy()
                count += len(ids)
        length = float(np.linalg.norm(total))
        if not count or not np.isfinite(length) or not length > 0:
            raise ContractError(f"the embedder {self.name} gives no direction for {text[:60]!r}")
        row: npt.NDArray[np.float32] = (total / length).astype(np.float32)
        return row


def encoder_folder(source: EncoderSource, cache: Path) -> Path:
    """The folder, in Hugging Face layout, of a model that embeds.

    Raises:
        GavelError: it is not there.
    """
    from components.models.materialize import check_folder, materialize, package_folder

    if isinstance(source, EncoderPackage):
        return check_folder(package_folder(source.package, source.version) / source.folder)
    return materialize(source, cache)
