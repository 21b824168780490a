"""HotpotQA: a question over ten paragraphs, with the sentences that support its answer."""

from typing import Any

from components.core.errors import ContractError
from components.data.mixture.row import TaskRow, text_of
from components.tasks.gold import QaGold


def parse(value: dict[str, Any], part: str, *, facts: bool = True) -> TaskRow:
    """One question. Lists as in the official files, or columns as in the hub's parquet files.

    Args:
        value: the row.
        part: of the file.
        facts: whether the gold holds the supporting facts, which are then asked.

    Raises:
        ContractError: a text, the paragraphs or the supporting facts are missing or of another form.
    """
    question, answer = text_of(value, "question"), text_of(value, "answer")
    paragraphs = _pairs(value, "context", "sentences")
    if not paragraphs:
        raise ContractError("'context' is empty", remedy="see the official file")
    supporting = tuple((title, number) for title, number in _pairs(value, "supporting_facts", "sent_id"))
    for _, sentences in paragraphs:
        if not isinstance(sentences, list) or not all(isinstance(each, str) for each in sentences):
            raise ContractError("a paragraph's sentences must be texts", remedy="[title, [sentence, ...]]")
    if not all(isinstance(number, int) and number >= 0 for _, number in supporting):
        raise ContractError("'supporting_facts' must number sentences from 0", remedy="[[title, number], ...]")
    titles = sorted({title for title, _ in supporting})
    # Numbered where the sentences are asked, and else as one text.
    context = "\n\n".join(
        _numbered(*each) if facts else f"{each[0]}\n{''.join(each[1]).strip()}" for each in paragraphs
    )
    return TaskRow(
        "hotpotqa",
        text_of(value, "_id" if "_id" in value else "id"),
        part,
        question,
        context,
        {"question": question, "context": context},
        QaGold("hotpotqa", (answer,), supporting if facts else ()),
        (answer,),
        f"titles {' | '.join(titles)}" if titles else "",
    )


def _plain(title: str, sentences: list[str]) -> str:
    return f"{title}\n{''.join(sentences).strip()}"


def _numbered(title: str, sentences: list[str]) -> str:
    return "\n".join([title, *(f"[{place}] {each.strip()}" for place, each in enumerate(sentences))])


def _pairs(value: dict[str, Any], key: str, second: str) -> list[tuple[str, Any]]:
    found = value.get(key)
    if isinstance(found, dict):
        titles, others = found.get("title"), found.get(second)
        if isinstance(titles, list) and isinstance(others, list) and len(titles) == len(others):
            found = [list(pair) for pair in zip(titles, others, strict=True)]
    if not isinstance(found, list):
        raise ContractError(f"{key!r} must be a list", remedy="see the official file")
    for each in found:
        if not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], str):
            raise ContractError(f"{key!r} must be a list of pairs with a title first", remedy="see the official file")
    return [(each[0], each[1]) for each in found]
