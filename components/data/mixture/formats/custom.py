"""Rows of one's own: ``problem``, ``answer`` and ``type``; docs/mixture.md has the form."""

from typing import Any, Final

from components.core.errors import ContractError
from components.data.mixture.row import TaskRow, text_of, texts_of
from components.tasks.boxes import last_boxed
from components.tasks.gold import CodeGold, MathGold, QaGold

_KEYS: Final = {
    "math": frozenset(),
    "qa": frozenset({"context"}),
    "code": frozenset({"tests", "entry_point", "setup"}),
}
_COMMON: Final = frozenset({"problem", "answer", "type", "id", "group"})


def parse(value: dict[str, Any], part: str) -> TaskRow:
    """One row.

    Raises:
        ContractError: a key is missing, unknown or of another type.
    """
    kind = value.get("type")
    if kind not in _KEYS:
        raise ContractError(f"'type' is {kind!r}", remedy=f"one of {', '.join(_KEYS)}")
    if unknown := sorted(set(value) - _COMMON - _KEYS[kind]):
        takes = ", ".join(sorted(_COMMON | _KEYS[kind]))
        raise ContractError(f"a row of type {kind} has no key {unknown[0]!r}", remedy=f"it takes {takes}")
    problem = text_of(value, "problem")
    given = value.get("id", "")
    if not isinstance(given, str | int) or isinstance(given, bool):
        raise ContractError("'id' must be a text or a whole number", remedy="leave it out if there is none")
    group = f"own {text_of(value, 'group')}" if value.get("group") is not None else ""
    parts: tuple[str, str, str] = (str(given), part, problem)
    if kind == "math":
        answer = _math_answer(value)
        return TaskRow("custom_math", *parts, "", {"problem": problem}, MathGold("custom_math", answer), answer, group)
    if kind == "qa":
        context = text_of(value, "context") if value.get("context") is not None else ""
        answers = _answers(value)
        fields = {"question": problem, "context": context}
        return TaskRow("custom_qa", *parts, context, fields, QaGold("custom_qa", answers), answers, group)
    return _code(value, parts, group)


def _code(value: dict[str, Any], parts: tuple[str, str, str], group: str) -> TaskRow:
    tests = value.get("tests")
    source = tests if isinstance(tests, str) else "\n".join(texts_of(value, "tests"))
    if not source.strip():
        raise ContractError(
            "a row of type code has no 'tests'",
            remedy='give asserts, such as "tests": ["assert add(1, 2) == 3"]: an answer alone cannot be run against',
        )
    entry = text_of(value, "entry_point") if value.get("entry_point") is not None else None
    setup = text_of(value, "setup", blank=True) if value.get("setup") is not None else ""
    answer = text_of(value, "answer", blank=True) if value.get("answer") is not None else ""
    problem = parts[2]
    # With an entry point the problem is the head of a function, and tests define check(candidate), as in HumanEval.
    fields = {"problem": problem.strip("\n") if entry else problem.strip(), "tests": "" if entry else source}
    gold = CodeGold("custom_code", problem, entry, source, setup)
    solution = problem + answer if entry and answer and f"def {entry}" not in answer else answer
    return TaskRow("custom_code", *parts, "", fields, gold, answer or None, group, solution)


def _math_answer(value: dict[str, Any]) -> str:
    answer = value.get("answer")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return str(answer)
    text = text_of(value, "answer")
    if "\\boxed" not in text and "\\fbox" not in text:
        return text.strip()
    boxed = last_boxed(text)
    if boxed is None or not boxed.strip():
        raise ContractError("the box in 'answer' is empty or has no end", remedy=r"such as \boxed{\frac{1}{2}}")
    return boxed.strip()


def _answers(value: dict[str, Any]) -> tuple[str, ...]:
    if "answer" not in value:
        raise ContractError("lacks 'answer'", remedy="null or [] for a question that its context does not answer")
    answer = value["answer"]
    if answer is None:
        return ()
    found = [answer] if isinstance(answer, str) else answer
    if not isinstance(found, list) or not all(isinstance(each, str) and each.strip() for each in found):
        raise ContractError(
            "'answer' must be a text or a list of texts", remedy="null or [] for a question that cannot be answered"
        )
    return tuple(dict.fromkeys(found))
