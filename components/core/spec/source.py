"""Where a model comes from."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from components.core.scripted_axes import AXES, unplantable
from components.core.spec.base import Conflict, Count, Seed, Spec, Text
from components.core.spec.fields import suggestion


class HubSource(Spec):
    """A model of the Hugging Face hub, or of a mirror that speaks its protocol."""

    kind: Literal["hub"]
    """Marks a hub model. Unit: none. Required."""
    repo: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-\w.]*/[A-Za-z0-9][-\w.]*$")]
    """Repository, as owner/name. Unit: none. Required."""
    revision: Text = "main"
    """Branch, tag or commit; only a commit pins the weights. Unit: none. Default: "main"."""

    def identity(self) -> Mapping[str, object]:
        """What decides the weights."""
        return self.model_dump(mode="json")


class FolderSource(Spec):
    """A folder in Hugging Face layout on this machine."""

    kind: Literal["folder"]
    """Marks a local folder. Unit: none. Required."""
    path: Text
    """The folder; a relative one in a YAML file starts at that file's folder, on the command line at the current one.
    Unit: none. Required."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """What you assert the content to be: any sha256 that you change when the weights change. It stands for the folder
    in the identity of results, so that a moved folder is not taken for another model. Unit: none. Default: null."""

    def identity(self) -> Mapping[str, object]:
        """What decides the weights: the asserted content. Without one the path is all that is known and stands in; then
        a moved folder counts as another model, and changed weights under an unchanged path go unseen."""
        known = {"sha256": self.sha256} if self.sha256 else {"path": self.path}
        return {"kind": self.kind, **known}


class PackageSource(Spec):
    """A GGUF file inside an installed Python package."""

    kind: Literal["package"]
    """Marks a packaged model. Unit: none. Required."""
    package: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$")]
    """Name of the distribution. Unit: none. Required."""
    version: Annotated[str, StringConstraints(pattern=r"^[0-9][-\w.+!]*$")]
    """Exact version, in quotes where YAML would read a number. Unit: none. Required."""
    file: Annotated[str, StringConstraints(pattern=r"\.gguf$")]
    """Path of the GGUF inside the package. Unit: none. Required."""

    def identity(self) -> Mapping[str, object]:
        """What decides the weights."""
        return self.model_dump(mode="json")


class TinySource(Spec):
    """A randomly initialised model of about 140 thousand parameters, for trying the wiring in seconds."""

    kind: Literal["tiny"]
    """Marks the wiring model. Unit: none. Required."""
    seed: Seed = 0
    """Seed of its random weights. Unit: none. Default: 0."""

    def identity(self) -> Mapping[str, object]:
        """What decides the weights."""
        return self.model_dump(mode="json")


class UriSource(Spec):
    """A model in a store: a published folder, such as a merged policy, or a plain folder in Hugging Face layout."""

    kind: Literal["uri"]
    """Marks a folder of a store. Unit: none. Required."""
    uri: Annotated[str, StringConstraints(pattern=r"^(s3://[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]/\S+|file:///\S+)$")]
    """Its URL: s3://bucket/folder or file:///absolute/folder. Unit: none. Required."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Content of a published folder, as its manifest has it, checked when it is fetched; of a plain one, what you
    assert. It stands for the URL in the identity of results. Unit: none. Default: null."""

    def identity(self) -> Mapping[str, object]:
        """What decides the weights: the content where it is known, and otherwise the URL."""
        known = {"sha256": self.sha256} if self.sha256 else {"uri": self.uri}
        return {"kind": self.kind, **known}


class ScriptedSource(Spec):
    """A judge without a model: it prefers by rules what it is told to prefer, so that a study has a known answer."""

    kind: Literal["scripted"]
    """Marks a scripted judge. Unit: none. Required."""
    biases: Mapping[str, Annotated[float, Field(ge=-100, le=100)]] = {}
    """Axis, as `python -m components.bias scripted --help` names them, to strength: how much the value of a response
    moves with the axis' feature; without any the judge is unbiased. Unit: fraction. Default: {}."""
    quality: Annotated[float, Field(ge=-100, le=100)] = 0.4
    """Score of every response that says something, before biases are added and the sum is cut to [0, 1].
    Unit: fraction. Default: 0.4."""
    sight: Annotated[float, Field(ge=0, le=1)] = 0.0
    """What words of the reference, or of the criteria, add to the score; 0 is a judge blind to quality. Unit: fraction.
    Default: 0.0."""
    noise: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Half width of the noise of a single response's score. Unit: fraction. Default: 0.1."""
    strained_words: Count = 260
    """Longest response that does not strain the judge: on the axis failure, replies about longer ones are unreadable as
    often as its strength says. Unit: words. Default: 260."""
    seed: Seed = 0
    """Seed of its noise. Unit: none. Default: 0."""

    def conflicts(self) -> Iterable[Conflict]:
        for axis, strength in self.biases.items():
            if axis not in AXES:
                yield Conflict(f"biases.{axis}", f"no scripted judge has an axis {axis!r}", suggestion(axis, AXES))
            elif (why := unplantable(axis, strength)) is not None:
                yield Conflict(f"biases.{axis}", why, "give another strength; 0 plants nothing")

    def identity(self) -> Mapping[str, object]:
        """What decides its verdicts, given its code."""
        return self.model_dump(mode="json")


ModelSource = Annotated[HubSource | FolderSource | PackageSource | TinySource | UriSource, Field(discriminator="kind")]

JudgeSource = Annotated[
    HubSource | FolderSource | PackageSource | TinySource | UriSource | ScriptedSource, Field(discriminator="kind")
]
"""Where a judge comes from: weights, or a script."""
