"""Whether right and wrong answers are told apart: by the official checks, and by the judge where one is asked."""

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from components.judge.rubrics import read_rubric
from components.judge.verdict import Sample, VerdictStatus
from components.tasks.gold import to_json
from components.tasks.score import TaskScorer
from components.workflow.checks.finding import Finding
from components.workflow.checks.problems import KNOWN, Known

if TYPE_CHECKING:
    from components.core.spec import Experiment


async def check_gold(scorer: TaskScorer) -> list[Finding]:
    """Score one known right and one known wrong answer of each domain.

    Raises:
        ServiceError: answers cannot be checked on this machine.
    """
    found: list[Finding] = []
    for known in KNOWN:
        for name, answer, wanted in (("right", known.right, True), ("wrong", known.wrong, False)):
            score = await scorer.score(known.gold, answer)
            told = {True: "right", False: "wrong", None: f"unknown: {score.detail}"}[score.correct]
            found.append(
                Finding(f"official check: {known.problem.domain}, {name} answer", score.correct is wanted, told)
            )
    return found


async def check_judge(experiment: "Experiment", state: Path) -> list[Finding]:
    """Put a right and a wrong answer to the judges that decide, in each domain in which one does.

    Raises:
        JudgeError: one is not deployed.
    """
    from components.judge.panel.build import build_deciding_judge

    assert experiment.workflow is not None
    asked = [each for each in KNOWN if experiment.workflow.correctness.all[each.problem.domain] == "judge"]
    name = f"judge {experiment.verdict_name}"
    if not asked:
        return [Finding(name, None, "not asked: the official checks decide (workflow.correctness)")]
    judge = build_deciding_judge(experiment, state, None)
    found: list[Finding] = []
    try:
        for known in asked:
            for which, answer, wanted in (
                ("right", known.right, VerdictStatus.MET),
                ("wrong", known.wrong, VerdictStatus.UNMET),
            ):
                (verdict,) = await judge.judge(_sample(experiment, known, answer, which))
                told = verdict.status if verdict.reason is None else f"{verdict.status}: {verdict.reason}"
                # A weak judge may be wrong, which is told; one that says nothing cannot be used.
                found.append(
                    Finding(
                        f"{name}: {known.problem.domain}, {which} answer",
                        verdict.status is wanted,
                        told,
                        needed=verdict.status is VerdictStatus.UNKNOWN or experiment.judge.weak is None,
                    )
                )
    finally:
        await judge.close()
    return found


def _sample(experiment: "Experiment", known: Known, answer: str, which: str) -> Sample:
    """As training asks: the row's line for the judge."""
    from components.data.mixture.rubric import Rubrics

    rubric = read_rubric(Rubrics(experiment).text(known.gold, to_json(known.gold)))
    criteria = tuple(line for line in rubric if line.verifier == "llm")
    # A kept reply would answer for a judge who is down, so no two checks ask the same.
    question = f"{known.problem.text}\n\n(Question {uuid.uuid4().hex[:8]}.)"
    return Sample(f"check-{known.problem.domain}", f"check-{known.problem.domain}-{which}", question, answer, criteria)
