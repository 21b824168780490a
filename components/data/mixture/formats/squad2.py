"""SQuAD 2.0: articles of paragraphs with questions, some of which the paragraph does not answer."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from components.core.errors import ContractError
from components.data.mixture.decode import decode_object
from components.data.mixture.elements import Elements
from components.data.mixture.records import Found, is_array, open_json, read_records
from components.data.mixture.row import TaskRow, text_of
from components.tasks.gold import QaGold


def read(path: Path, source: str) -> Iterator[Found]:
    """One object a question, from the official file or from flat rows, as the hub's parquet files have them.

    Raises:
        ContractError: the file as a whole cannot be read; a single bad question is given as such.
    """
    name = PurePosixPath(source.partition("?")[0]).name.lower()
    if name.endswith((".json", ".json.gz")):
        with open_json(path, source, packed=name.endswith(".gz")) as stream:
            if not is_array(stream):
                yield from _articles(Elements(stream, source))
                return
    yield from read_records(path, source)


def _articles(cursor: Elements) -> Iterator[Found]:
    cursor.take("{")
    found = False
    while cursor.peek() != "}":
        key = orjson.loads(cursor.value())
        cursor.take(":")
        if key == "data" and not found:
            found = True
            for number, (line, text) in enumerate(cursor.array()):
                yield from _article(text, f"line {line}, article {number} (from 0)")
        else:
            cursor.value()
        if cursor.peek() == ",":
            cursor.take(",")
    cursor.take("}")
    if not found:
        yield "the whole file", ContractError("there is no 'data'", remedy="the official file has its articles there")


def _article(text: str, where: str) -> Iterator[Found]:
    try:
        article = decode_object(text.encode())
        title = text_of(article, "title")
        paragraphs = _objects(article, "paragraphs")
    except ContractError as error:
        yield where, error
        return
    for number, paragraph in enumerate(paragraphs):
        place = f"{where} {title[:40]!r}, paragraph {number}"
        try:
            context, questions = text_of(paragraph, "context"), _objects(paragraph, "qas")
        except ContractError as error:
            yield place, error
            continue
        for index, question in enumerate(questions):
            yield f"{place}, question {index}", {**question, "title": title, "context": context}


def _objects(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = value.get(key)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ContractError(f"{key!r} must be a list of objects", remedy="see the official file")
    return found


def parse(value: dict[str, Any], part: str) -> TaskRow:
    """One question with its context; one that the context does not answer has no answers.

    Raises:
        ContractError: a text is missing, or its answers contradict ``is_impossible``.
    """
    question, context = text_of(value, "question"), text_of(value, "context")
    answers = _answers(value.get("answers"))
    impossible = value.get("is_impossible", not answers)
    if not isinstance(impossible, bool):
        raise ContractError("'is_impossible' must be true or false", remedy="see the official file")
    if impossible == bool(answers):
        what = (
            "has answers although is_impossible is true" if impossible else "has no answer, and is_impossible is false"
        )
        raise ContractError(
            f"the question {what}", remedy="an unanswerable question has is_impossible true, answers []"
        )
    return TaskRow(
        "squad2",
        text_of(value, "id"),
        part,
        question,
        context,
        {"question": question, "context": context},
        QaGold("squad2", answers),
        answers,
        f"article {text_of(value, 'title')}",
    )


def _answers(value: object) -> tuple[str, ...]:
    if isinstance(value, dict):
        value = value.get("text")
    elif isinstance(value, list):
        value = [each.get("text") if isinstance(each, dict) else None for each in value]
    if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
        raise ContractError("'answers' must be a list of objects with a 'text'", remedy="see the official file")
    return tuple(dict.fromkeys(value))
