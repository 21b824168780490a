"""One answer to one task, scored by the task's official metric: for training, evaluation and the command line alike."""

import dataclasses
from collections.abc import Sequence

from components.tasks import hotpot, squad
from components.tasks.answers import Found, Place, math_answer, qa_answer
from components.tasks.code import CodeRunner
from components.tasks.gold import CodeGold, Fact, MathGold, QaGold, TaskGold
from components.tasks.math_equal import MathEquality

_SHOWN = 500
"""Characters of an answer that are kept."""


@dataclasses.dataclass(frozen=True, slots=True)
class TaskScore:
    """What is known about one answer; a number is there only where it was measured.

    Attributes:
        correct: whether it is right: equal, an exact match, or all tests passed; None when that was not found out.
        exact: exact match as 0 or 1, for questions.
        f1: token F1 in [0, 1], for questions.
        answer: what was taken for the answer; None where none was found, and for programs.
        detail: why ``correct`` is None, or what speaks against the answer.
        supporting_exact: exact match of the supporting facts, where these are asked.
        supporting_f1: their F1.
        joint_exact: exact match of answer and facts together.
        joint_f1: F1 of the products of precision and of recall.
    """

    correct: bool | None
    exact: float | None = None
    f1: float | None = None
    answer: str | None = None
    detail: str = ""
    supporting_exact: float | None = None
    supporting_f1: float | None = None
    joint_exact: float | None = None
    joint_f1: float | None = None

    def __post_init__(self) -> None:
        if self.correct is None and not self.detail:
            raise ValueError("a score that is unknown says why")


class TaskScorer:
    """Scores answers. For one event loop; its processes are started when first needed.

    Args:
        concurrency: checks at once in processes; None for as many as there are cores.
        math: compares mathematical answers; None for one of its own.
        code: runs programs; None for one of its own.
    """

    def __init__(
        self, concurrency: int | None = None, *, math: MathEquality | None = None, code: CodeRunner | None = None
    ) -> None:
        self._concurrency = concurrency
        self._math = math or MathEquality(concurrency=concurrency)
        self._code = code

    async def score(self, gold: TaskGold, response: str) -> TaskScore:
        """Score a model's raw text.

        An answer that is missing, cannot be read or breaks off is a wrong one.

        Raises:
            ServiceError: this machine has no sandbox, or lacks a package that mathematical answers need.
        """
        match gold:
            case MathGold():
                return await self._score_math(gold, response)
            case QaGold():
                found = qa_answer(response)
                return question_score(gold, found.text, found.facts)
            case CodeGold():
                return await self._score_code(gold, response)

    async def close(self) -> None:
        """End the processes."""
        await self._math.close()
        if self._code is not None:
            await self._code.close()
            self._code = None

    async def _score_math(self, gold: MathGold, response: str) -> TaskScore:
        numbers = gold.dataset == "gsm8k"
        found = math_answer(response, last_number=numbers)
        if numbers and found.place is Place.NONE:
            found = Found(Place.NONE, None)
        equality = await self._math.equal(gold.answer, found)
        answer = None if found.text is None else found.text[:_SHOWN]
        return TaskScore(equality.equal, answer=answer, detail=equality.detail)

    async def _score_code(self, gold: CodeGold, response: str) -> TaskScore:
        self._code = self._code or CodeRunner(concurrency=self._concurrency)
        outcome = await self._code.run(gold, response)
        detail = "" if outcome.passed else f"{outcome.reason}: {outcome.detail}"
        return TaskScore(outcome.passed, detail=detail)


def question_score(gold: QaGold, answer: str, facts: Sequence[Fact] | None = None) -> TaskScore:
    """Score an answer as it stands; the empty one says that there is none.

    Args:
        gold: HotpotQA's by its own metrics, others' by SQuAD 2.0's.
        answer: the answer alone, without words around it.
        facts: supporting facts that come with it; None is none. Looked at only where the gold has some.
    """
    shown = answer[:_SHOWN]
    if gold.dataset != "hotpotqa":
        exact, f1 = squad.score(answer, gold.answers)
        return TaskScore(exact, float(exact), f1, shown)
    match = hotpot.answer_match(answer, gold.answers[0])
    if not gold.supporting:
        return TaskScore(match.exact, float(match.exact), match.f1, shown)
    supporting = hotpot.facts_match(facts or (), gold.supporting)
    both = hotpot.joint(match, supporting)
    return TaskScore(
        match.exact,
        float(match.exact),
        match.f1,
        shown,
        supporting_exact=float(supporting.exact),
        supporting_f1=supporting.f1,
        joint_exact=float(both.exact),
        joint_f1=both.f1,
    )
