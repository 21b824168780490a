"""The base of every model of the specification: frozen, strict, and able to name what contradicts itself."""

from collections.abc import Iterable
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, model_validator

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$"
"""RFC 1123 label, cut to 40 characters: Kubernetes objects and store folders carry it, with suffixes."""

NAME = r"^[a-z0-9]([-a-z0-9.]{0,38}[a-z0-9])?$"
"""As a DNS label, with dots (``qwen2.5-7b``)."""

FILE_NAME = r"^[A-Za-z0-9][-A-Za-z0-9_.]*$"

Name = Annotated[str, StringConstraints(pattern=NAME)]
Label = Annotated[str, StringConstraints(pattern=DNS_LABEL)]
FileName = Annotated[str, StringConstraints(pattern=FILE_NAME)]
Text = Annotated[str, StringConstraints(pattern=r"\S")]
Count = Annotated[int, Field(ge=1)]
Tokens = Annotated[int, Field(ge=1, le=10_000_000)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


class Conflict(NamedTuple):
    """Values that are each allowed and together are not.

    Attributes:
        key: dotted key to change, relative to the model that found it.
        what: the contradiction, with the values.
        remedy: what the user can do.
    """

    key: str
    what: str
    remedy: str


class ConflictError(ValueError):
    """Carries the conflicts of one model through pydantic."""

    def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
        self.conflicts = conflicts
        super().__init__("; ".join(f"{conflict.key}: {conflict.what}" for conflict in conflicts))


ALLOW_CONFLICTS: dict[str, object] = {"conflicts": "allowed"}
"""Validation context that looks at fields alone, so that one part's conflict does not hide those with other parts."""


class Spec(BaseModel):
    """One part of the specification."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        protected_namespaces=(),
    )

    def conflicts(self) -> Iterable[Conflict]:
        """Contradictions between the fields of this part; the parts override it."""
        return ()

    @model_validator(mode="after")
    def _has_no_conflict(self, info: ValidationInfo) -> "Spec":
        found = () if info.context is ALLOW_CONFLICTS else tuple(self.conflicts())
        if found:
            raise ConflictError(found)
        return self
