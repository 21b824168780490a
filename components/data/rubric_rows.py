"""Rows with a rubric, in the columns that RuscaRL trains on and HealthBench-500 is published in.

``prompt`` holds the turns, ``reward_model.rubrics`` a list of {criterion, points, tags}; a second copy under
``extra_info.reward_model`` is what RuscaRL's reward reads, so it goes first here as well.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from components.core.errors import ContractError
from components.data.benchmark import benchmark_of
from components.data.faults import read_each
from components.data.reading import Found, make_item, merge_lines, text_of
from components.data.rowfile import Row, object_of, read_rows, unpacked
from components.data.turns import read_turns, unicode_text
from components.judge.rule import ARGUMENTS, Rule
from components.judge.verdict import Criterion

RULES: Final = ("math_verify", "word_count_range")
"""Functions that a tag may name; rows cannot bring code of their own."""

EXAMPLE: Final = (
    '{"prompt": [{"role": "user", "content": "Write a line about rain."}], "reward_model": {"style": "rubric", '
    '"rubrics": [{"criterion": "The response is polite.", "points": 2, "tags": ["verifier:llm"]}]}}'
)

SELECTING: Final = ("verifier", "function", "parameters")
"""Tags, or keys of the line itself, that say who decides it."""

Tags = Mapping[str, Any]


def read_rubric_rows(content: bytes, *, source: str) -> list[Found]:
    """Every row of a file.

    Raises:
        ContractError: the file cannot be read, or rows cannot be used; names the first ten and the number of all.
    """
    return read_each(read_rows(content, source=source), _row, source=source)


def _row(row: Row) -> Found:
    value, where = row.value, row.where
    counts: Counter[str] = Counter()
    extra, model = object_of(value.get("extra_info")), object_of(value.get("reward_model"))
    copy = object_of(extra.get("reward_model"))
    rubrics = _rubrics(copy) or _rubrics(model)
    if _rubrics(copy) and _rubrics(model) and _rubrics(copy) != _rubrics(model):
        counts["rows_with_two_different_rubrics"] += 1
    prompt = value.get("prompt") if value.get("prompt") is not None else extra.get("prompt")
    turns = read_turns(prompt, where=where)
    if not rubrics:
        raise ContractError("the row has no criterion", where=where, remedy=f"such as {EXAMPLE}")
    lines = [_line(entry, f"{where}, criterion {number}") for number, entry in enumerate(rubrics, start=1)]
    item = make_item(turns, merge_lines(lines, counts, where=where))
    name = text_of(value.get("data_source"))
    return Found(item, counts, name, benchmark_of(name, item.criteria), where)


def _rubrics(model: Mapping[str, Any]) -> list[Any]:
    found = unpacked(model.get("rubrics"))
    return found if isinstance(found, list) else []


def _line(value: object, where: str) -> Criterion:
    entry = object_of(value)
    text, points = entry.get("criterion"), entry.get("points")
    if not isinstance(text, str) or not text.strip():
        raise ContractError(
            "key 'criterion': must be a text that is not empty", where=where, remedy=f"such as {EXAMPLE}"
        )
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise ContractError(f"key 'points': must be a number, got {points!r}", where=where, remedy=f"such as {EXAMPLE}")
    labels, tags = _tags(entry.get("tags"), where)
    try:
        rule = _rule(_wanted(tags, entry, where), where)
        return Criterion(
            text=unicode_text(text, where=where).strip(),
            points=float(points),
            verifier="llm" if rule is None else "rule",
            tags=labels,
            rule=rule,
        )
    except (ValueError, OverflowError) as error:
        raise ContractError(f"key 'points': {error}", where=where, remedy="a finite number other than 0") from error


def _tags(value: object, where: str) -> tuple[tuple[str, ...], Tags]:
    """Labels as ``key:value`` texts, without function and parameters, and all of them by key."""
    value = unpacked(value)
    if value is None:
        value = []
    if isinstance(value, dict):
        # A parquet column of one struct has every key in every row, null where a row does not use it.
        pairs = [(str(key), inner) for key, inner in value.items() if inner is not None]
    elif isinstance(value, list) and all(isinstance(tag, str) for tag in value):
        pairs = [
            (head.strip(), rest.strip()) if colon else (tag, "")
            for tag in value
            for head, colon, rest in [tag.partition(":")]
        ]
    else:
        raise ContractError(
            f"key 'tags': must be a list of texts or an object, got {value!r}",
            where=where,
            remedy='such as ["axis:accuracy", "level:example"]',
        )
    labels = [f"{key}:{inner}" if inner != "" else key for key, inner in pairs if key not in ("function", "parameters")]
    found: dict[str, Any] = {}
    for key, inner in pairs:
        if key in SELECTING and key in found and found[key] != inner:
            raise _contradiction(key, found[key], inner, where)
        found[key] = inner
    return tuple(dict.fromkeys(unicode_text(label, where=where) for label in labels)), found


def _wanted(tags: Tags, entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What selects a rule, from the tags or the line itself; nothing for a line of the judge.

    A rule that is not recognised as one would go to the judge, who then decides what code was meant to decide.
    """
    wanted: dict[str, Any] = {}
    for holder in (tags, entry):
        for key, value in holder.items():
            name = key.strip().casefold()
            if name in SELECTING and key != name:
                raise ContractError(f"key {key!r} means nothing", where=where, remedy=f"write it as {name!r}")
            found = unpacked(value) if name in SELECTING else None
            if name not in SELECTING or _says_nothing(found):
                continue
            if name in wanted and wanted[name] != found:
                raise _contradiction(name, wanted[name], found, where)
            wanted[name] = found
    verifier = wanted.pop("verifier", "llm")
    if verifier not in ("llm", "rule"):
        raise ContractError(
            f"key 'verifier': nothing is called {verifier!r}",
            where=where,
            remedy="llm (the judge decides) or rule (code decides); without one the judge does",
        )
    if verifier == "llm" and wanted:
        raise ContractError(
            f"key {min(wanted)!r} is given, and the verifier is not rule",
            where=where,
            remedy="add the tag verifier:rule, or leave function and parameters out",
        )
    return {"function": None, "parameters": None, **wanted} if verifier == "rule" else {}


def _says_nothing(value: object) -> bool:
    """A parquet struct has every key in every row, and a text column may have "" for nothing."""
    return value is None or value == "" or (isinstance(value, dict) and all(map(_says_nothing, value.values())))


def _contradiction(key: str, one: object, other: object, where: str) -> ContractError:
    return ContractError(
        f"key {key!r} is given twice, as {one!r} and as {other!r}", where=where, remedy="keep the one that is meant"
    )


def _rule(wanted: Mapping[str, Any], where: str) -> Rule | None:
    if not wanted:
        return None
    name, given = wanted["function"], wanted["parameters"]
    if not isinstance(name, str) or name not in RULES:
        raise ContractError(
            f"tag function: no rule is named {name!r}", where=where, remedy=f"known rules: {', '.join(RULES)}"
        )
    if not isinstance(given, dict):
        raise ContractError(
            f"tag parameters: must be an object, got {given!r}",
            where=where,
            remedy=f"{name} takes exactly {', '.join(ARGUMENTS[name])}",
        )
    kinds = ARGUMENTS[name]
    arguments = {key: _argument(inner, kinds.get(key)) for key, inner in given.items() if inner is not None}
    return Rule.parse({**arguments, "name": name}, where=where)


def _argument(value: object, kind: type | None) -> object:
    """Whole numbers may come as 20.0 (parquet's doubles) and answers as numbers; all else stays, and is refused."""
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is str and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return value
