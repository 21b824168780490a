"""The policy: the model that is trained."""

from typing import Annotated, Literal

from pydantic import Field

from components.core.spec.base import Name, Spec, Text, Tokens
from components.core.spec.source import ModelSource


class PolicySpec(Spec):
    """The model that is trained, and how it is prompted."""

    name: Name
    """Name in reports and messages; the file's name where the file gives none. Unit: none. Required."""
    source: ModelSource
    """Where the weights come from: kind hub, folder, package, tiny or uri. Unit: none. Required."""
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Type of the weights in training and generation. Unit: none. Default: "bfloat16"."""
    context_tokens: Tokens
    """Longest prompt and response together that the model takes. Unit: tokens. Required."""
    system_prompt: Text | None = None
    """System message before every prompt; null sends none. Unit: none. Default: null."""
    chat_template: Text | None = None
    """Jinja file that replaces the model's own chat template; a relative path in a YAML file starts at that file's
    folder. Unit: none. Default: null."""
    chat_template_text: str | None = None
    """Content of ``chat_template``. Read when the experiment is loaded, so that the experiment carries it to machines
    that lack the file; not to be written by hand. Unit: none. Default: null."""
    licence: Text
    """SPDX identifier of the weights' licence, or its name. Unit: none. Required."""
    parameters: Annotated[int, Field(ge=1)]
    """Number of weights, for the check that they fit into memory. Unit: parameters. Required."""
