"""Programs that keep the contract, written for tests: what policies write beside what templates do."""

from workflow_signatures import template

REVISED = '''
import re
from typing import Optional

LIMIT = 3
HINTS = {"math": "Mind the units.", "qa": "Quote the text."}


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return re.sub(r"\\s+", " ", lines[-1]) if lines else ""


class Workflow:
    """Writes, reviews and rewrites."""

    rounds = LIMIT

    def __init__(self, name: str, llm_config, dataset: str) -> None:
        self.name, self.dataset = name, dataset
        self.llm = create_llm(llm_config)
        self.custom = operator.Custom(self.llm)
        self.review = operator.Review(self.llm)
        self.revise = operator.Revise(self.llm)
        self.format = operator.Format(self.llm)

    async def improved(self, problem, solution: Optional[str]):
        for number in range(self.rounds):
            opinion = await self.review(problem=problem, solution=solution)
            if opinion["review_result"]:
                break
            better = await self.revise(problem=problem, solution=solution, feedback=opinion["feedback"])
            solution = better["solution"]
        return solution

    async def __call__(self, problem):
        first = await self.custom(input=problem, instruction=HINTS.get(self.dataset, "Think."))
        solution = await self.improved(problem, first["response"])
        if len(solution) > 200:
            short = await self.format(problem=problem, solution=solution)
            return short["solution"], self.llm.cost
        else:
            return last_line(solution), self.llm.cost
'''

TASKS = """
import asyncio
from collections import Counter


class Workflow:
    def __init__(self, name, llm_config, dataset):
        self.llm = create_llm(llm_config)
        self.answer_generate = operator.AnswerGenerate(self.llm)
        self.md_ensemble = operator.MdEnsemble(self.llm)

    async def __call__(self, problem, entry_point=None):
        custom = operator.Custom(self.llm)
        tasks = []
        for number in range(3):
            tasks.append(self.answer_generate(problem))
        pending = [asyncio.create_task(each) for each in tasks]
        found = await asyncio.gather(*pending, return_exceptions=True)
        answers = [each["answer"] for each in found if isinstance(each, dict)]
        extra = custom(input=problem, instruction="Answer in one word.")
        answers.append((await asyncio.wait_for(extra, 60))["response"])
        most, times = Counter(answers).most_common(1)[0]
        if times > len(answers) // 2:
            return most, self.llm.cost
        chosen = await self.md_ensemble(solutions=answers, problem=problem, vote_count=3)
        return chosen["solution"], 0.0
"""

PROGRAMS = {**{domain: template(domain) for domain in ("math", "code", "qa")}, "revised": REVISED, "tasks": TASKS}
