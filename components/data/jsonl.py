"""A user's own prompts: one JSON object a line."""

import dataclasses
import json
from typing import Any

from components.core.errors import ContractError
from components.core.faults import tell
from components.core.unique_json import RepeatedKeyError, loads
from components.data.item import Item
from components.data.turns import Turn, question_of, read_turns, unicode_text
from components.gold.checks import GoldChecks
from components.judge.rule import EXAMPLE as RULE
from components.judge.rule import Rule
from components.judge.verdict import Criterion

KEYS = frozenset({"prompt", "question", "messages", "criteria", "gold", "template"})
CRITERION_KEYS = frozenset({"text", "points", "verifier", "tags", "rule"})
EXAMPLE = '{"prompt": "Write a line about rain.", "criteria": [{"text": "The response is polite.", "points": 1}]}'
RULE_EXAMPLE = '{"text": "20 to 40 words", "verifier": "rule", "rule": ' + RULE + "}"


def read_jsonl(
    content: bytes, *, source: str, criteria: tuple[Criterion, ...] = (), gold: GoldChecks | None = None
) -> list[Item]:
    """Read and check a file of prompts.

    A row holds ``prompt`` (or ``question``, or ``messages``: a list of turns, the user's last), ``criteria`` (a list of
    text, points, verifier, tags, rule), and perhaps ``gold`` (the hidden checks) and ``template`` (rows of one template
    are never split between training and held-out).

    Args:
        content: the file's bytes, UTF-8; blank lines are skipped.
        source: path or URL of the file, for messages.
        criteria: used for rows that have no ``criteria`` key.
        gold: used for rows that have no ``gold`` key; None: such rows have no hidden checks, as have rows whose
            ``gold`` is null.

    Raises:
        ContractError: the file is empty or not UTF-8, or rows are not what they should be; names line and key of the
            first ten, and the number of all.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"not UTF-8: {error}", where=source, remedy="save the file as UTF-8") from error
    items: list[Item] = []
    faults: list[ContractError] = []
    seen: dict[str, int] = {}
    # Not splitlines(): it would also split at characters that JSON strings may hold as they are, such as U+2028.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    for number, line in lines:
        where = f"{source}, line {number}"
        try:
            item = _item(_object(line, where), where, criteria, gold)
            key = " ".join(item.question.split()) + (f"\n{item.system}" if item.system is not None else "")
            if key in seen:
                raise ContractError(
                    f"the prompt is the same as in line {seen[key]}",
                    where=where,
                    remedy="each prompt once, or the splits leak",
                )
        except ContractError as error:
            faults.append(error)
            continue
        seen[key] = number
        items.append(dataclasses.replace(item, where=where))
    tell(faults, of=len(lines), source=source)
    if not items:
        raise ContractError("the file holds no prompts", where=source, remedy=f"one object a line: {EXAMPLE}")
    return items


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = loads(line)
    except RepeatedKeyError as error:
        raise error.located(where) from error
    except ValueError as error:
        raise ContractError(f"not JSON: {error}", where=where, remedy=f"one object a line: {EXAMPLE}") from error
    except RecursionError as error:
        raise ContractError("JSON nested too deep", where=where, remedy=f"one object a line: {EXAMPLE}") from error
    if not isinstance(value, dict):
        raise ContractError(
            f"expected a JSON object, got {type(value).__name__}", where=where, remedy=f"one object a line: {EXAMPLE}"
        )
    unicode_text(json.dumps(value, ensure_ascii=False), where=where)
    return value


def _item(row: dict[str, Any], where: str, criteria: tuple[Criterion, ...], gold: GoldChecks | None) -> Item:
    unknown = sorted(set(row) - KEYS)
    if unknown:
        raise ContractError(f"unknown key {unknown[0]!r}", where=where, remedy=f"known keys: {', '.join(sorted(KEYS))}")
    if len({"prompt", "question", "messages"} & set(row)) != 1:
        raise ContractError(
            "needs the key 'prompt' (or 'question', or 'messages', not both)",
            where=where,
            remedy=f"such as {EXAMPLE}",
        )
    turns = _turns(row, where)
    question = question_of(turns)
    if "criteria" in row:
        criteria = _criteria(row["criteria"], where)
    if not criteria:
        raise ContractError(
            "key 'criteria': missing, and the experiment's data.criteria gives none",
            where=where,
            remedy=f"such as {EXAMPLE}",
        )
    if not any(line.points > 0 for line in criteria):
        raise ContractError(
            "key 'criteria': no criterion has positive points, so no reward can be formed",
            where=where,
            remedy="give at least one criterion points above 0; negative points are penalties",
        )
    if "gold" in row:
        gold = None if row["gold"] is None else GoldChecks.parse(row["gold"], where=where)
    template = row.get("template", question)
    if not isinstance(template, str) or not template:
        raise ContractError("key 'template': must be a text", where=where, remedy="leave it out if there is none")
    alone = len(turns) == 1
    return Item(question, template, criteria, gold, () if alone else turns)


def _turns(row: dict[str, Any], where: str) -> tuple[Turn, ...]:
    if "messages" in row:
        return read_turns(row["messages"] if isinstance(row["messages"], list) else None, where=where, key="messages")
    question = row.get("prompt", row.get("question"))
    if not isinstance(question, str) or not question.strip():
        raise ContractError("key 'prompt': must be a text that is not empty", where=where, remedy=f"such as {EXAMPLE}")
    return (Turn("user", question.strip()),)


def _criteria(value: object, where: str) -> tuple[Criterion, ...]:
    if not isinstance(value, list) or not value:
        raise ContractError(
            "key 'criteria': must be a list that is not empty", where=where, remedy=f"such as {EXAMPLE}"
        )
    criteria = tuple(_criterion(entry, f"{where}, criteria[{index}]") for index, entry in enumerate(value))
    seen: set[object] = set()
    for line in criteria:
        if line.line in seen:
            raise ContractError(
                f"key 'criteria': {line.text!r} stands there twice",
                where=where,
                remedy="keep it once, with the sum of the points",
            )
        seen.add(line.line)
    return criteria


def _criterion(entry: object, where: str) -> Criterion:
    if not isinstance(entry, dict):
        raise ContractError(f"expected an object, got {type(entry).__name__}", where=where, remedy=f"such as {EXAMPLE}")
    unknown = sorted(set(entry) - CRITERION_KEYS)
    if unknown:
        raise ContractError(
            f"unknown key {unknown[0]!r}", where=where, remedy=f"known keys: {', '.join(sorted(CRITERION_KEYS))}"
        )
    text, points = entry.get("text"), entry.get("points", 1.0)
    verifier, tags = entry.get("verifier", "llm"), entry.get("tags", [])
    if not isinstance(text, str) or not text.strip():
        raise ContractError("key 'text': must be a text that is not empty", where=where, remedy=f"such as {EXAMPLE}")
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise ContractError(f"key 'points': must be a number, got {points!r}", where=where, remedy=f"such as {EXAMPLE}")
    if verifier not in ("llm", "rule"):
        raise ContractError(f"key 'verifier': {verifier!r}", where=where, remedy="llm or rule")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ContractError(
            f"key 'tags': must be a list of texts, got {tags!r}", where=where, remedy='such as ["axis:tone"]'
        )
    if (verifier == "rule") != ("rule" in entry):
        raise ContractError(
            "keys 'verifier' and 'rule': verifier rule needs a rule, and only verifier rule has one",
            where=where,
            remedy=f"such as {RULE_EXAMPLE}",
        )
    rule = Rule.parse(entry["rule"], where=where) if "rule" in entry else None
    try:
        return Criterion(text=text.strip(), points=float(points), verifier=verifier, tags=tuple(tags), rule=rule)
    except (ValueError, OverflowError) as error:
        raise ContractError(f"key 'points': {error}", where=where, remedy="a finite number other than 0") from error
