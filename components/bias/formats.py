"""The same sentences in other dress: lists, bold words, headings, emoji; and forms that strain a judge's reply."""

import json
import re
from typing import Final

from components.bias.changes import sentences

STYLES: Final = ("bullets", "bold", "headings", "emoji")
_EMOJI: Final = ("✅", "🌟", "💡", "🚀", "🔥", "👍", "🎯", "✨")
_LONG_WORD: Final = re.compile(r"\b[A-Za-z]{7,}\b")
_HEADINGS: Final = ("Overview", "Details", "Summary")


def styled(text: str, style: str) -> str:
    """A paragraph in one of ``STYLES``; its words stay, in their order."""
    parts = sentences(text)
    if style == "bullets":
        return "\n".join(f"- {part}" for part in parts)
    if style == "bold":
        return " ".join(_LONG_WORD.sub(lambda match: f"**{match[0]}**", part, count=2) for part in parts)
    if style == "headings":
        size = -(-len(parts) // len(_HEADINGS))
        groups = [parts[start : start + size] for start in range(0, len(parts), size)]
        return "\n\n".join(
            f"## {heading}\n\n{' '.join(group)}" for heading, group in zip(_HEADINGS, groups, strict=False)
        )
    if style == "emoji":
        return " ".join(f"{part} {_EMOJI[place % len(_EMOJI)]}" for place, part in enumerate(parts))
    raise ValueError(f"{style} is no style")


def polished(text: str) -> str:
    """A paragraph as a show-piece: headings, bold words, bullets, and a closing line."""
    parts = sentences(text)
    bold = [_LONG_WORD.sub(lambda match: f"**{match[0]}**", part, count=1) for part in parts]
    listed = "\n".join(f"- {part}" for part in bold[1:])
    return (
        f"## Overview\n\n{bold[0]}\n\n## Key points\n\n{listed}\n\n**In short, this is a complete and careful answer.**"
    )


STRAINS: Final = ("long", "json", "table", "code")
_LONG_COPIES: Final = 6


def strained(text: str, strain: str) -> str:
    """A paragraph in a form that makes it hard for a judge to keep to its own: very long, or full of braces, bars or
    fences. All its sentences are there."""
    parts = sentences(text)
    if strain == "long":
        return "\n\n".join([text] * _LONG_COPIES)
    if strain == "json":
        points = [{"point": place, "text": part} for place, part in enumerate(parts, start=1)]
        return json.dumps({"answer": points, "complete": True}, indent=2, ensure_ascii=False)
    if strain == "table":
        rows = [f"| {place} | {part.replace('|', '/')} |" for place, part in enumerate(parts, start=1)]
        return "\n".join(["| Nr. | Point |", "|---|---|", *rows])
    if strain == "code":
        body = "\n".join(f"    lines.append({part!r})" for part in parts)
        return f"```python\ndef answer() -> str:\n    lines = []\n{body}\n    return ' '.join(lines)\n```"
    raise ValueError(f"{strain} is no strain")
