"""The gold of a line, in the forms that people have it in: an answer, a list of answers, or the official row."""

import math
from collections.abc import Mapping
from typing import Any, Final

from components.core.errors import ContractError
from components.tasks.answers import bare
from components.tasks.boxes import last_boxed
from components.tasks.gold import CodeGold, Fact, MathGold, QaGold, TaskGold, facts, gold_of
from components.tasks.notation import values
from components.tasks.sets import domain

_FACTS: Final = ("supporting_facts", "gold_supporting_facts")
_MARKER: Final = "####"


def gold_of_line(dataset: str, row: Mapping[str, Any]) -> TaskGold:
    """The gold of a line.

    Mathematics: the answer as text or number; a whole solution counts by its box, and GSM8K's by what follows ``####``.
    SQuAD 2.0: a list of answers, empty when there is none. HotpotQA: the answer, with ``supporting_facts`` beside it in
    the line or in an object. Programs: the fields of :class:`components.tasks.gold.CodeGold`, the official row, or the
    tests alone as a text or a list.

    Raises:
        ContractError: it is none of these.
    """
    gold = row["gold"]
    match domain(dataset):
        case "math":
            return _math(dataset, gold)
        case "qa":
            return _hotpot(row) if dataset == "hotpotqa" else QaGold(dataset, _answers(dataset, gold))
        case "code":
            return _code(dataset, gold)


def facts_of(value: object) -> tuple[Fact, ...]:
    """Supporting facts as a list of [title, number], or as the columns ``title`` and ``sent_id``.

    Raises:
        ContractError: they are neither.
    """
    if isinstance(value, dict) and set(value) == {"title", "sent_id"}:
        titles, numbers = value["title"], value["sent_id"]
        if not isinstance(titles, list) or not isinstance(numbers, list) or len(titles) != len(numbers):
            raise ContractError("supporting facts: 'title' and 'sent_id' must be lists of one length")
        value = [[title, number] for title, number in zip(titles, numbers, strict=True)]
    return facts(value)


def _math(dataset: str, gold: object) -> MathGold:
    if isinstance(gold, bool) or not isinstance(gold, str | int | float):
        raise ContractError(f"'gold' must be a text or a number, got {gold!r}"[:200])
    if isinstance(gold, float) and not math.isfinite(gold):
        raise ContractError(f"'gold' is {gold!r}, which is no number")
    text = gold if isinstance(gold, str) else repr(gold)
    if _MARKER in text:
        text = text.rpartition(_MARKER)[2].strip()
    elif (box := last_boxed(text)) is not None:
        text = box
    if dataset == "gsm8k" and not values(text):
        raise ContractError(f"'gold' holds no number: {text!r}"[:200], remedy="a number, or a solution with ####")
    return MathGold(dataset, bare(text))


def _answers(dataset: str, gold: object) -> tuple[str, ...]:
    if isinstance(gold, str) and dataset != "squad2":
        return (gold,)
    if isinstance(gold, dict) and isinstance(gold.get("text"), list):
        gold = gold["text"]
    if isinstance(gold, list):
        texts = [each.get("text") if isinstance(each, dict) else each for each in gold]
        found = tuple(text for text in texts if isinstance(text, str))
        if len(found) == len(gold):
            return found
    raise ContractError(
        f"'gold' must be a list of texts, got {gold!r}"[:200], remedy="[] is the gold of a question without an answer"
    )


def _hotpot(row: Mapping[str, Any]) -> QaGold:
    gold = row["gold"]
    found: tuple[Fact, ...] | None = None
    if isinstance(gold, dict):
        if gold.get("supporting_facts") is not None:
            found = facts_of(gold["supporting_facts"])
        gold = gold.get("answer")
    for key in _FACTS:
        if row.get(key) is not None:
            if found is not None:
                raise ContractError(f"supporting facts are there twice, also as {key!r}")
            found = facts_of(row[key])
    if isinstance(gold, list) and len(gold) == 1:
        gold = gold[0]
    if not isinstance(gold, str):
        raise ContractError(
            f"'gold' must be a text, got {row['gold']!r}"[:200],
            remedy='the answer, or {"answer": ..., "supporting_facts": [[title, number], ...]}',
        )
    return QaGold("hotpotqa", (gold,), found or ())


def _code(dataset: str, gold: object) -> CodeGold:
    if isinstance(gold, list):
        gold = {"test_list": gold}
    if isinstance(gold, str):
        gold = {"tests": gold, "prompt": "", "entry_point": None}
    if not isinstance(gold, dict):
        raise ContractError(f"'gold' must be an object, a text or a list of tests, got {gold!r}"[:200])
    if "test" in gold and "tests" not in gold:
        gold = {"prompt": gold.get("prompt"), "entry_point": gold.get("entry_point"), "tests": gold["test"]}
    elif "test_list" in gold and "tests" not in gold:
        gold = {
            "prompt": gold.get("text") or gold.get("prompt") or "",
            "entry_point": None,
            "tests": _joined(gold["test_list"], "test_list"),
            "setup": _joined(gold.get("test_setup_code") or gold.get("test_imports") or "", "setup"),
        }
    if dataset == "humaneval" and not gold.get("entry_point"):
        raise ContractError("'gold' of humaneval needs prompt, entry_point and test")
    found = gold_of({**gold, "dataset": dataset})
    assert isinstance(found, CodeGold)
    return found


def _joined(value: object, key: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    raise ContractError(f"'gold': {key!r} must be a list of texts, got {value!r}"[:200])
