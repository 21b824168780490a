"""The published sets' own solutions pass, and solutions made wrong fail; skipped where the files are not at hand.

They lie in ``shared/data`` beside the checkout, or where the variable GAVEL_TEST_DATA says.
"""

import ast
import asyncio
import gzip
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.tasks.code import CodeOutcome, CodeRunner
from components.tasks.gold import CodeGold

FOLDER = Path(os.environ.get("GAVEL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
Case = tuple[str, CodeGold, str]


def content(name: str) -> bytes:
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {FOLDER.name}: set GAVEL_TEST_DATA to the folder that holds it")
    return path.read_bytes()


def human_eval() -> Iterator[Case]:
    for line in gzip.decompress(content("HumanEval.jsonl.gz")).splitlines():
        row = json.loads(line)
        gold = CodeGold("humaneval", row["prompt"], row["entry_point"], row["test"])
        yield row["task_id"], gold, row["canonical_solution"]


def mbpp() -> Iterator[Case]:
    for line in content("mbpp.jsonl").splitlines():
        row = json.loads(line)
        tests = "\n".join([*row["test_list"], *row["challenge_test_list"]])
        yield str(row["task_id"]), CodeGold("mbpp", row["text"], None, tests, row["test_setup_code"]), row["code"]


def sanitized() -> Iterator[Case]:
    for row in json.loads(content("sanitized-mbpp.json")):
        setup = "\n".join(row["test_imports"])
        yield (
            str(row["task_id"]),
            CodeGold("mbpp", row["prompt"], None, "\n".join(row["test_list"]), setup),
            row["code"],
        )


def outcomes(cases: list[tuple[CodeGold, str]]) -> list[CodeOutcome]:
    async def run() -> list[CodeOutcome]:
        runner = CodeRunner()
        try:
            return await asyncio.gather(*(runner.run(*case) for case in cases))
        finally:
            await runner.close()

    return asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "number"), [(human_eval, 164), (mbpp, 974), (sanitized, 427)])
def test_all_canonical_solutions_pass(cases, number) -> None:
    rows = list(cases())
    found = outcomes([(gold, code) for _, gold, code in rows])
    failed = [(name, each) for (name, _, _), each in zip(rows, found, strict=True) if each.passed is not True]
    assert failed == []
    assert len(found) == number


def test_whole_functions_in_fences_pass_as_completions_do() -> None:
    rows = list(human_eval())[:40]
    fenced = [(gold, f"Sure:\n```python\n{gold.prompt}{code}```\nDone.") for _, gold, code in rows]
    assert [each.passed for each in outcomes(fenced)] == [True] * 40


class _NoReturn(ast.NodeTransformer):
    """Functions that give back nothing."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return ast.Return(None)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return ast.Lambda(node.args, ast.Constant(None))


class _Shifted(ast.NodeTransformer):
    """Functions that give back a tuple about what they should."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return ast.Return(ast.Tuple([node.value or ast.Constant(None), ast.Constant("extra")], ast.Load()))


@pytest.mark.slow
@pytest.mark.parametrize("mutate", [_NoReturn, _Shifted])
def test_mutants_of_human_eval_fail(mutate: type[ast.NodeTransformer]) -> None:
    rows, mutants = list(human_eval()), []
    for _, gold, code in rows:
        tree = ast.parse(gold.prompt + code)
        tree.body = [
            mutate().visit(node) if getattr(node, "name", "") == gold.entry_point else node for node in tree.body
        ]
        mutants.append((gold, ast.unparse(ast.fix_missing_locations(tree))))
    found = outcomes(mutants)
    passed = [name for (name, _, _), each in zip(rows, found, strict=True) if each.passed is not False]
    # The tests of 33 compare the function with itself, by name.
    assert passed in ([], ["HumanEval/33"])


@pytest.mark.slow
def test_solutions_of_other_tasks_fail() -> None:
    """Each of MBPP's tests with the next task's code under the name that the tests call."""
    rows = [row for row in mbpp() if not row[1].setup][:300]
    cases = []
    for (_, gold, _), (_, other, code) in itertools.pairwise(rows):
        wanted, has = (each.tests.split("assert ")[1].lstrip("( ").split("(")[0] for each in (gold, other))
        cases.append((gold, f"{code}\n{wanted} = {has}\n"))
    found = outcomes(cases)
    assert all(each.passed is not None for each in found)
    assert sum(each.passed is True for each in found) <= 3
