"""Whether a prompt fits the judge's context, known before the call.

By its own tokenizer, here or at its server, or else by a count of words.
"""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.judge.carrier import Carrier
from components.judge.server_count import ServerCount
from components.judge.verdict import Sample

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.judge.profiles.base import Profile

Count = Callable[[str], int]
"""Tokens of a text, without those that a tokenizer adds at its ends."""

_PARTS: Final = 1024
"""Texts whose counts are kept: what many prompts share is counted once."""


class Lengths:
    """Counts prompts of one judge. What its chat template adds is not counted, so that nothing that fits is refused.

    Args:
        context: tokens of prompt and reply that the judge takes.
        load: gives its tokenizer, when it is first needed; None where it is not known, and then every word is taken
            for one token, which is the least that it can be: no tokenizer in use joins words.
        server: counts where there is no tokenizer here; None where no server does.
    """

    def __init__(
        self, context: int, load: Callable[[], Count | None] | None = None, server: ServerCount | None = None
    ) -> None:
        self.context = context
        self._load = load
        self._server = server
        self._count: Count | None = None
        self._part: Count | None = None

    def excess(self, texts: Sequence[str], reply: int) -> str | None:
        """None where the texts may fit beside a reply of so many tokens; else how long they are, and by which count."""
        room = self.context - reply
        known = self._load is not None or self._count is not None
        # Of n characters, at most (n + 1) / 2 are words; a token has at least one byte.
        most = sum(len(text.encode("utf-8", "replace")) if known else (len(text) + 1) // 2 for text in texts)
        if most <= room:
            return None
        if not self._loaded() or self._count is None or self._part is None:
            words = sum(len(text.split()) for text in texts)
            return f"{words} words, counted as one token each," if words > room else None
        if sum(self._part(part) for text in texts for part in text.split("\n\n")) + _breaks(texts) <= room:
            return None
        tokens = sum(map(self._count, texts))
        return f"{tokens} tokens by the judge's own tokenizer" if tokens > room else None

    async def exceeds(self, texts: Sequence[str], reply: int) -> str | None:
        """As :meth:`excess`, and where it could only count words and they may fit, as the server counts, if it does."""
        found = self.excess(texts, reply)
        room = self.context - reply
        server = self._server
        if found is not None or server is None or sum(len(text.encode("utf-8", "replace")) for text in texts) <= room:
            return found
        if self._loaded():
            return None
        tokens = 0
        for text in texts:
            count = await server(text)
            if count is None:
                return None
            tokens += count
        return f"{tokens} tokens as its server counts ({server.route})" if tokens > room else None

    async def counted_by(self) -> str:
        """How prompts are counted, for people."""
        # Not loaded for this alone, which takes seconds.
        if self._load is not None or self._count is not None:
            return "the judge's own tokenizer, on this machine"
        if self._server is not None and await self._server("How long is this?") is not None:
            return f"the judge's own tokenizer, at its server ({self._server.route})"
        return "words, one token each, which is the least: its tokenizer is not at hand"

    def _loaded(self) -> bool:
        """Whether a tokenizer lies here; loads it the first time."""
        if self._load is not None:
            self._count, self._load = self._load(), None
            self._part = None if self._count is None else functools.lru_cache(_PARTS)(self._count)
        return self._count is not None

    async def never_fits(self, sample: Sample, reply: int) -> tuple[str, str] | None:
        """A criterion that fits beside no response, as far as is known, and how long it is with the question."""
        for criterion in sample.criteria:
            found = await self.exceeds((sample.question, criterion.text), reply)
            if found is not None:
                return criterion.text, found
        return None


def _breaks(texts: Sequence[str]) -> int:
    """Tokens between the parts of texts, at most."""
    return 2 * sum(text.count("\n\n") for text in texts)


def lengths_for(
    spec: "JudgeSpec", state: Path | None, profile: "Profile | None" = None, transport: Carrier | None = None
) -> Lengths:
    """The counts of a judge; by its tokenizer if that lies on this machine. Nothing is fetched or converted for it.

    Args:
        spec: the judge.
        state: folder of this machine's state, where converted models lie.
        profile: tells whether its server counts tokens; with ``transport``, which then asks it.
        transport: the caller closes it.
    """
    from components.models.materialize import on_this_machine

    folder = None if spec.weights is None else on_this_machine(spec.weights, state)
    server = None
    if profile is not None and profile.tokenize_route is not None and transport is not None:
        server = ServerCount(spec.name, spec.model_name, profile.tokenize_route, transport)
    return Lengths(spec.context_tokens, None if folder is None else lambda: _load(folder), server)


@functools.lru_cache(8)
def _load(folder: Path) -> Count | None:
    """The tokenizer as servers load it; None where it cannot be loaded here."""
    try:
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (ImportError, OSError, ValueError, TypeError, KeyError):
        return None

    def count(text: str) -> int:
        whole = text.encode("utf-8", "replace").decode("utf-8")
        return len(tokenizer.encode(whole, add_special_tokens=False, truncation=False))

    return count
