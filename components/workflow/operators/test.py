"""Runs the problem's public tests, and has the program mended while it fails."""

from components.sandbox.outcome import JSON
from components.tasks.code_text import program_text
from components.tasks.gold import CodeGold
from components.tasks.sets import DATASETS
from components.workflow.errors import OperatorError, OperatorReason
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.programs import check_name, program_in


class Test(Operator):
    """Tests in the sandbox, of those that the problem's text shows."""

    about = (
        "Runs the solution against the public tests of the problem. While it fails, the model is told why and writes "
        "it anew, test_loop times at most; then the last solution is returned with result False."
    )
    inputs = (
        Field("problem", Kind.TEXT, "what the program is to do"),
        Field("solution", Kind.TEXT, "the program"),
        Field("entry_point", Kind.TEXT, "name of the function that is tested"),
        Field("test_loop", Kind.INTEGER, "how often it may be written anew, 1 to 5", default=3, most=5),
    )
    outputs = (
        Field("result", Kind.BOOLEAN, "whether the returned solution passes"),
        Field("solution", Kind.TEXT, "the program that was tested last"),
    )
    asks = "test_loop"

    async def run(self, given: Arguments) -> dict[str, JSON]:
        name = given.text("entry_point")
        gold = self._gold(name)
        values = {each: given.text(each) for each in ("problem", "entry_point")}
        solution = program_text(given.text("solution"), name)
        for left in reversed(range(given.number("test_loop") + 1)):
            outcome = await self.desk.test(gold, solution)
            if outcome.passed or not left:
                return {"result": outcome.passed is True, "solution": solution}
            told = {"solution": solution, "failure": f"{outcome.reason}: {outcome.detail}"}
            solution = program_in(await self.desk.ask(self.prompt({**values, **told})), name)
        raise AssertionError("the last round returns")

    def _gold(self, name: str) -> CodeGold:
        """The public tests, as the runner of programs takes them."""
        check_name(name)
        problem = self.desk.problem
        if problem.public_tests is None or not problem.public_tests.strip():
            raise OperatorError(OperatorReason.NO_TESTS, "this problem has no public tests")
        if problem.entry_point not in (None, name):
            what = f"entry_point must be {problem.entry_point}, which the tests call, got {name[:40]!r}"
            raise OperatorError(OperatorReason.ARGUMENTS, what)
        known = DATASETS.get(problem.dataset)
        dataset = problem.dataset if known is not None and known.domain == "code" else "custom_code"
        return CodeGold(dataset, problem.text, problem.entry_point, problem.public_tests)
