"""Responses that models wrote, for self-preference and refinement: JSON lines that the user mounts.

``responses*.jsonl``, one request a line, or several lines that are joined by ``text_id``::

    {"text_id": "q1", "question": "...", "criteria": ["...", "...", "..."],
     "responses": [{"model": "qwen3-8b", "family": "Qwen", "text": "...", "quality": 4}, ...]}

``quality`` is what people or a key hold of it, on any scale; equal numbers are equally good. ``refinements*.jsonl``::

    {"text_id": "q1", "question": "...", "criteria": [...], "draft": "...", "refined": "...", "family": "Qwen"}
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.bias.mounted import DataSet, Mounted
from components.bias.readers.pairs import rows_of, text_of
from components.core.errors import ContractError
from components.core.text import is_text

_REMEDY: Final = "docs/probes.md has the format"
_MOST: Final = 1e300
"""Of a quality, above or below 0: JSON also has infinities and what is no number, and whole numbers beyond these."""


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """A response that a model wrote."""

    model: str
    family: str
    text: str
    quality: float


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A request with the responses of several models."""

    text_id: str
    question: str
    criteria: tuple[str, ...]
    responses: tuple[Written, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Refinement:
    """A draft and what the same model made of it."""

    text_id: str
    question: str
    criteria: tuple[str, ...]
    draft: str
    refined: str
    family: str


def requests(mounted: Mounted) -> Iterator[Request]:
    """What lies in ``responses*.jsonl``: lines of one text, as several models may have left them in files of their own,
    are one request.

    Raises:
        ContractError: a line is not in the format, or lines of one text have different questions or criteria.
    """
    found: dict[str, Request] = {}
    for path in mounted.files(DataSet.RESPONSES):
        for number, row in enumerate(rows_of(path), start=1):
            where = f"{path}, line {number}"
            head = _head(row, where)
            responses = row.get("responses")
            if not isinstance(responses, list) or not all(isinstance(each, dict) for each in responses):
                raise _wrong("responses is no list of objects", where)
            own = Request(*head, tuple(_written(each, where) for each in responses))
            known = found.get(own.text_id)
            if known is not None and (known.question, known.criteria) != (own.question, own.criteria):
                raise _wrong(f"text {own.text_id!r} has another question or other criteria in an earlier line", where)
            before = () if known is None else known.responses
            found[own.text_id] = dataclasses.replace(own, responses=(*before, *own.responses))
    yield from found.values()


def refinements(mounted: Mounted) -> Iterator[Refinement]:
    """What lies in ``refinements*.jsonl``.

    Raises:
        ContractError: a line is not in the format.
    """
    for path in mounted.files(DataSet.REFINEMENTS):
        for number, row in enumerate(rows_of(path), start=1):
            where = f"{path}, line {number}"
            draft, refined, family = (_text(row, key, where) for key in ("draft", "refined", "family"))
            yield Refinement(*_head(row, where), draft, refined, family)


def _head(row: Mapping[str, Any], where: str) -> tuple[str, str, tuple[str, ...]]:
    criteria = row.get("criteria")
    texts = isinstance(criteria, list) and all(
        isinstance(each, str) and each.strip() and is_text(each) for each in criteria
    )
    if not criteria or not texts:
        raise _wrong("criteria is no list of texts", where)
    return _text(row, "text_id", where), _text(row, "question", where), tuple(criteria)


def _written(row: Mapping[str, Any], where: str) -> Written:
    quality = row.get("quality")
    if isinstance(quality, bool) or not isinstance(quality, int | float) or not abs(quality) <= _MOST:
        raise _wrong("a response without a quality: without it, a preference cannot be told from good judgement", where)
    model, family, text = (_text(row, key, where) for key in ("model", "family", "text"))
    return Written(model, family, text, float(quality))


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    return text_of(row, key, where, _REMEDY)


def _wrong(what: str, where: str) -> ContractError:
    return ContractError(what, where=where, remedy=_REMEDY)
