"""Lines of predictions: ``{"id", "gold", "prediction"}``. A file counts only when every line of it can be read."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from components.core.errors import ContractError
from components.core.unique_json import loads
from components.score.tasks.golds import facts_of, gold_of_line
from components.tasks.gold import Fact, TaskGold, to_json
from components.tasks.sets import domain

_PREDICTED_FACTS: Final = ("predicted_supporting_facts", "prediction_supporting_facts")


@dataclasses.dataclass(frozen=True, slots=True)
class Prediction:
    """One line.

    Attributes:
        number: of the line, from 1.
        id: as it stands in the file.
        gold: what is right.
        answers: the predictions; several only for programs.
        facts: supporting facts that HotpotQA's prediction names; None when it names none.
    """

    number: int
    id: str | int
    gold: TaskGold
    answers: tuple[str, ...]
    facts: tuple[Fact, ...] | None = None


def read_lines(path: Path, dataset: str) -> list[Prediction]:
    """Read a whole file; blank lines are skipped.

    Args:
        path: of the file, UTF-8.
        dataset: a name of :data:`components.tasks.sets.DATASETS`.

    Raises:
        ContractError: the file cannot be read or has no line, or lines cannot be read; all of these are told.
    """
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise ContractError(f"cannot be read: {error.strerror}", where=str(path)) from error
    found: list[Prediction] = []
    faults: list[tuple[int, ContractError]] = []
    seen: dict[str | int, Prediction] = {}
    # A line of JSON may hold other line ends, such as U+2028, as they are.
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    for number, line in lines:
        try:
            prediction = _prediction(number, line, dataset)
            _check_repeated(seen.setdefault(prediction.id, prediction), prediction, dataset)
            found.append(prediction)
        except ContractError as error:
            faults.append((number, error))
    if faults:
        told = "\n".join(f"  line {number}: {error.what}" for number, error in faults)
        remedies = list(dict.fromkeys(error.remedy for _, error in faults if error.remedy))
        raise ContractError(
            f"{len(faults)} of {len(lines)} lines cannot be scored, so none is:\n{told}",
            where=str(path),
            remedy="; ".join(remedies[:5]) or "correct these lines, or leave them out of the file",
        )
    if not found:
        raise ContractError("there is no line", where=str(path), remedy='one {"id", "gold", "prediction"} a line')
    return found


def _prediction(number: int, line: bytes, dataset: str) -> Prediction:
    try:
        value = loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ContractError(f"not UTF-8: {error.reason} at byte {error.start}", remedy="save it as UTF-8") from error
    except ContractError:
        raise
    except (ValueError, RecursionError) as error:
        raise ContractError(f"no JSON: {error}", remedy="write one JSON object a line") from error
    if not isinstance(value, dict):
        raise ContractError(f"must be an object, got {type(value).__name__}", remedy="write one JSON object a line")
    if missing := [key for key in ("id", "gold", "prediction") if key not in value]:
        raise ContractError(f"lacks {', '.join(map(repr, missing))}", remedy="each line has id, gold and prediction")
    name = value["id"]
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise ContractError(f"'id' must be a text or a whole number, got {_shown(name)}")
    gold = gold_of_line(dataset, value)
    answers, facts = _answers(dataset, value)
    return Prediction(number, name, gold, answers, facts)


def _answers(dataset: str, row: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Fact, ...] | None]:
    given = row["prediction"]
    facts = None
    if dataset == "hotpotqa":
        keys = [key for key in _PREDICTED_FACTS if key in row]
        if isinstance(given, dict):
            if "answer" not in given:
                raise ContractError("'prediction' lacks 'answer'", remedy='{"answer": ..., "supporting_facts": [...]}')
            if given.get("supporting_facts") is not None:
                facts = facts_of(given["supporting_facts"])
            given = given["answer"]
        for key in keys:
            if facts is not None:
                raise ContractError(f"predicted supporting facts are there twice, also as {key!r}")
            facts = facts_of(row[key])
    if domain(dataset) == "code" and isinstance(given, list):
        if not given or not all(isinstance(each, str) for each in given):
            raise ContractError("'prediction' must be a text or a list of texts, not an empty one")
        return tuple(given), None
    if not isinstance(given, str):
        raise ContractError(
            f"'prediction' must be a text, got {_shown(given)}",
            remedy="an empty text stands for no answer; leave lines out whose prediction is not known",
        )
    return (given,), facts


def _check_repeated(first: Prediction, this: Prediction, dataset: str) -> None:
    if first is this:
        return
    if domain(dataset) != "code":
        raise ContractError(f"the id {_shown(this.id)} is that of line {first.number}", remedy="give each line its id")
    if to_json(first.gold) != to_json(this.gold):
        raise ContractError(
            f"the gold is another than in line {first.number}, whose id it has too",
            remedy="lines of one id are samples of one task",
        )


def _shown(value: object) -> str:
    return f"{value!r}"[:80]
