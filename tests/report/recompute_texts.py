"""Words, keywords, echo and gold of a text in a few lines: the short rules of the independent recomputation."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any


def split_words(text: str) -> list[str]:
    """Runs of letters and digits, an apostrophe inside belonging to them."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2018", "'")
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())


def keyword_finder(path: Path) -> Callable[[str], bool]:
    """A short reading of the word list: ``!`` words count after a determiner, ``-`` phrases are no hits."""
    forms: dict[str, bool] = {}
    excluded = []
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip().lower()
        if not line or line.startswith("#"):
            continue
        if line.startswith("-"):
            excluded.append(line[1:].strip())
            continue
        word, _, plurals = line.lstrip("!").partition("/")
        ending = "es" if re.search(r"(s|x|z|ch|sh)$", word.strip()) else "s"
        plain = re.sub(r"([^aeiou])y$", r"\1ie", word.strip()) + ending
        for form in (word, *(plurals.split(",") if plurals else [plain])):
            forms[form.strip()] = line.startswith("!")
    before = (
        r"(?:\b(?:an?|the|this|that|these|those|my|your|his|her|its|our|their|one|two|three|some|many)\s+(?:\w+\s+)?)"
    )

    def find(text: str) -> bool:
        lowered = text.lower().replace("\u2019", "'")
        for phrase in excluded:
            lowered = lowered.replace(phrase, "#")
        for form, strict in forms.items():
            if form in lowered and re.search(
                rf"{before if strict else ''}(?<!\w)(?<!\w-){re.escape(form)}(?!\w)(?!-\w)", lowered
            ):
                return True
        return False

    return find


def looks_like_echo(criteria: Iterable[str], text: str) -> bool:
    """A sentence that mentions mentioning, or names the criterion's own noun as a label."""
    topics = {
        word.rstrip("s")
        for line in criteria
        for word in split_words(line)
        if len(word) > 3 and not re.match(r"mention|includ|contain|describ|name|something", word)
    }
    for sentence in re.split(r"[.!?\n]+", text.lower()):
        words = [word.rstrip("s") for word in split_words(sentence)]
        topic = any(word in topics for word in words)
        about = any(re.match(r"mention|includ|contain|describ", word) for word in words)
        label = re.search(r"specific|certain|particular|kinds? of|types? of|called|named| is an? ", sentence)
        itself = re.search(
            r"\b(sentence|text|criterion|requirement|response)\b.* (is|about)\b"
            r"|^(it |this |that )?(mention|includ|contain)|\b(is|are) mentioned\b",
            sentence.strip(),
        )
        heading = any(re.search(rf"\b{re.escape(name)}s?\s*[:=]", sentence) for name in topics)
        named = about and re.search(r"\b(sentence|text|criterion|response)\b", sentence)
        if (topic and (about or label)) or itself or heading or named:
            return True
    return False


def short_rules(
    find: Callable[[str], bool], spec: Mapping[str, Any], criteria: Iterable[str], text: str
) -> dict[str, bool]:
    """Keyword, echo and gold of a text in a few lines."""
    words = split_words(text)
    keyword = find(text)
    echo = bool(spec.get("echo", True)) and looks_like_echo(criteria, text)
    varied = 2 * len(set(words)) >= len(words)
    right = spec.get("min_words", 1) <= len(words) <= spec.get("max_words", 10_000)
    return {"keyword": keyword, "echo": echo, "gold": keyword and not echo and varied and right}
