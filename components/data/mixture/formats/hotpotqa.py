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
    shown = _numbered if facts else _plain
    try:
        context = "\n\n".join([shown(title, sentences) for title, sentences in paragraphs])
    except TypeError as error:
        raise ContractError("a paragraph's sentences must be texts", remedy="[title, [sentence, ...]]") from error
    if not all(isinstance(number, int) and number >= 0 for _, number in supporting):
        raise ContractError("'supporting_facts' must number sentences from 0", remedy="[[title, number], ...]")
    titles = sorted({title for title, _ in supporting})
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


def _plain(title: str, sentences: object) -> str:
    return f"{title}\n{''.join(_list(sentences)).strip()}"


def _numbered(title: str, sentences: object) -> str:
    lines = [f"[{place}] {each}" for place, each in enumerate(map(str.strip, _list(sentences)))]
    return "\n".join([title, *lines])


def _list(value: object) -> list[str]:
    """The sentences; whether they are texts, their use shows."""
    if not isinstance(value, list):
        raise TypeError
    return value


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
