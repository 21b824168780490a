"""IFEval: its prompts, and how they are answered."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Count, Spec, Text, Tokens


class IFEvalSpec(Spec):
    """The benchmark's file, and generation on it."""

    path: Text
    """IFEval's input_data.jsonl, or rows of that form: a path (a relative one in a YAML file starts at that file's
    folder) or an s3:// URL. Unit: none. Required."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Content of ``path``; computed when the experiment is loaded, to be given for an s3:// URL. It stands for the path
    in the identity of results. Unit: none. Default: null."""
    overlay: bool = False
    """Mends four rows of the official file that contradict their own text; figures are then not comparable with
    published ones. Unit: none. Default: false."""
    base: bool = False
    """Whether the policy before training answers as well. Unit: none. Default: false."""
    limit: Count | None = None
    """Takes only the first prompts of the file; null takes all. Unit: prompts. Default: null."""
    max_response_tokens: Tokens = 1280
    """Longest response. Unit: tokens. Default: 1280."""
    temperature: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Sampling temperature; 0 takes the likeliest token, as the benchmark's published figures do. Unit: none.
    Default: 0.0."""
    samples: Count = 1
    """Responses for each prompt; a prompt then counts by its mean. Unit: responses. Default: 1."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.temperature == 0 and self.samples > 1:
            yield Conflict(
                "samples",
                f"{self.samples} samples at temperature 0 are all the same",
                "set samples: 1, or a temperature above 0",
            )
