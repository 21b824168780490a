"""Text of others inside a prompt: it must stay text, and never become a control token of the judge's model."""

import re
from typing import Final

_TAG: Final = re.compile(r"<(?=[^\s<>]{1,64}>)")
"""Anything like <|im_end|>, </s>, <think> or <start_of_turn>: no tokenizer of a chat model has control tokens of
another form, besides the bracketed ones."""

_TRIANGLE: Final = re.compile(r"◁(?=/?\w{1,32}▷)")
"""◁think▷ and the like, of the Kimi family."""

_BRACKET: Final = re.compile(r"\[(?=/?[A-Z_]{2,32}\])")
"""[INST], [/INST], [TOOL_CALLS] and the like, of the Mistral family."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def neutralise(text: str) -> str:
    """Break every control-token marker by a space behind its first character; other text stays as it is, but for lone
    surrogates, which no request can carry and which become U+FFFD."""
    if _SURROGATE.search(text) is not None:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _TRIANGLE.sub("◁ ", _BRACKET.sub("[ ", _TAG.sub("< ", text)))
