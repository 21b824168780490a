"""Between text and token ids, with the place of every token in the text."""

import dataclasses
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt as tokens.

    Attributes:
        ids: token ids.
        text: the prompt as text.
        starts: character offset in ``text`` at which each token begins.
        ends: character offset behind each token.
    """

    ids: tuple[int, ...]
    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def first_token_after(self, offset: int) -> int:
        """Index of the first token that reaches beyond character ``offset``; a straddling token counts."""
        return next((index for index, end in enumerate(self.ends) if end > offset), len(self.ids))


class Text:
    """The model's tokenizer with a cache of single-token texts.

    Args:
        folder: a Hugging Face model folder.
    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoTokenizer

        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._pieces: dict[int, str] = {}
        self.size = len(self._tokenizer)

    def encode(self, text: str, *, special: bool) -> Encoded:
        """Tokenize ``text``; markers of special tokens inside it become those tokens, as in vLLM."""
        got = self._tokenizer(text, add_special_tokens=special, return_offsets_mapping=True)
        spans = got["offset_mapping"]
        return Encoded(
            tuple(got["input_ids"]), text, tuple(start for start, _ in spans), tuple(end for _, end in spans)
        )

    def render(self, messages: list[dict[str, str]]) -> str:
        """A conversation as one text, up to where the reply begins.

        Raises:
            ValueError: the tokenizer has no chat template, or the template refuses these turns.
        """
        from jinja2 import TemplateError

        if self._tokenizer.chat_template is None:
            raise ValueError("the model has no chat template; ask it by /v1/completions")
        try:
            return str(self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        except TemplateError as error:
            raise ValueError(f"the model's chat template refuses them: {error}") from error

    def from_ids(self, ids: tuple[int, ...]) -> Encoded:
        """A prompt that came as token ids; offsets add up the lengths of the single tokens' texts."""
        starts, ends, place = [], [], 0
        for index in ids:
            starts.append(place)
            place += len(self.piece(index))
            ends.append(place)
        return Encoded(ids, self.decode(ids), tuple(starts), tuple(ends))

    def piece(self, index: int) -> str:
        """The text of one token on its own; a token that is part of a character reads as U+FFFD."""
        known = self._pieces.get(index)
        if known is None:
            known = self._pieces[index] = str(self._tokenizer.decode([index]))
        return known

    def decode(self, ids: tuple[int, ...], *, skip_special: bool = False) -> str:
        """The text of a run of tokens."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=skip_special))
