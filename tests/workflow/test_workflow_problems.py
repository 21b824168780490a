"""From rows to problems: public tests are what the text shows, and nothing else."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.data.mixture.formats import humaneval, mbpp
from components.tasks.code import CodeRunner
from components.tasks.gold import CodeGold, MathGold, QaGold, TaskGold, to_json
from components.workflow.prompts.examples_in import public_tests
from components.workflow.prompts.problems import called_by, problem, problem_of
from components.workflow.types import Problem

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "configs" / "datasets" / "mixed-small"
REAL = Path(os.environ.get("GAVEL_TEST_DATA") or ROOT.parent / "shared" / "data")


def read(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        pytest.skip(f"{path.name} is not in {path.parent.name}: set GAVEL_TEST_DATA to the folder that holds it")
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


def row(question: str, gold: TaskGold) -> dict[str, Any]:
    return {
        "data_source": gold.dataset,
        "extra_info": {"id": "r1", "question": question},
        "reward_model": {"style": "task", "ground_truth": to_json(gold)},
    }


@pytest.mark.parametrize(("gold", "domain"), [(MathGold("gsm8k", "42"), "math"), (QaGold("hotpotqa", ("Ida",)), "qa")])
def test_of_a_row_without_tests_the_text_is_the_problem(gold: TaskGold, domain: str) -> None:
    assert problem_of(row("What?", gold)) == Problem(domain, gold.dataset, "What?", None, None)


def test_hidden_tests_stay_hidden() -> None:
    head = 'def f(x):\n    """Twice.\n\n    >>> f(2)\n    4\n    """\n'
    gold = CodeGold("humaneval", head, "f", "def check(candidate):\n    assert candidate(77) == 154\n")
    found = problem_of(row(head, gold))
    assert found == Problem("code", "humaneval", head, "f", "assert f(2) == 4")
    # Asserts that the text does not show are no public tests, and tell no name.
    asserts = CodeGold("custom_code", "Twice.", None, "assert f(77) == 154")
    assert problem("Twice.", asserts) == Problem("code", "custom_code", "Twice.", None, None)


def test_what_the_text_shows_is_public_with_its_setup() -> None:
    gold = CodeGold("mbpp", "Twice.", None, "assert f(1) == 2\nassert f(0) == 0", setup="import math")
    text = f"Twice.\n\n{gold.tests}\n"
    found = problem(text, gold)
    assert (found.entry_point, found.public_tests) == ("f", "import math\nassert f(1) == 2\nassert f(0) == 0")


@pytest.mark.parametrize(
    ("docstring", "tests"),
    [
        (">>> f(1)\n2\n>>> f('a b')\n'a b'", ["assert f(1) == 2", "assert f('a b') == 'a b'"]),
        ("f(1) -> 2.\nf(3) => 4", ["assert f(1) == 2.0", "assert f(3) == 4"]),
        ("f([1, (2)]) ==> [2]\n    f(0) ➞ None", ["assert f([1, 2]) == [2]", "assert f(0) == None"]),
        ("Example: f(2) == 3  # as it was", ["assert f(2) == 3"]),
        (">>> round(f(2), 1)\n0.5\n>>> f(1)\n2", ["assert round(f(2), 1) == 0.5", "assert f(1) == 2"]),
        # No literals, other names, formulas, and an example without an outcome tell nothing that can be checked.
        (">>> f(1)\nTraceback (most recent call last):\n    ...\nValueError: no", []),
        (">>> f(a)\n2\n>>> g(1)\n2\n>>> f(1)\n", []),
        ("f(1) = 3, and f(2) = 1 + 2/2", []),
        (">>> f(1)\n<object>\nf( -> 3", []),
        ("Nothing is shown.", []),
    ],
)
def test_examples_of_docstrings(docstring: str, tests: list[str]) -> None:
    source = (
        f'def f(x):\n    """\n{"".join(f"    {line.strip()}{chr(10)}" for line in docstring.splitlines())}    """\n'
    )
    assert public_tests(source, "f") == ("\n".join(tests) or None)


def test_another_function_s_docstring_is_not_read() -> None:
    source = 'def g(x):\n    """\n    >>> f(1)\n    9\n    """\n\n\ndef f(x):\n    """Twice."""\n'
    assert public_tests(source, "f") is None
    assert public_tests("def f(x:", "f") is None


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_docstring_gives_asserts_that_parse(told: str, want: str) -> None:
    source = f"def f(x):\n    {told + chr(10) + '>>> f(1)' + chr(10) + want + chr(10) + 'f(2) -> ' + want!r}\n"
    found = public_tests(source, "f")
    if found is not None:
        compile(found, "tests", "exec")
        assert all(line.startswith("assert ") for line in found.split("\n") if "f(" in line)


@pytest.mark.parametrize(
    ("tests", "name"),
    [
        ("assert f(g(1)) == 2\nassert f(g(2)) == 3", "f"),
        ("assert set(f(1)) == set((2,))", "f"),
        ("import math\nassert math.isclose(f(1), 2)", "f"),
        ("assert f([Pair(1, 2)]) == 3\nassert f([]) == 0", "f"),
        ("assert sorted([2, 1]) == [1, 2]", "sorted"),
        ("def helper(x):\n    return x\nassert helper(f(1)) == 2", "f"),
        ("assert f(1) == 2\nassert g(1) == 2", None),
        ("assert True", None),
        ("f(1)", None),
        ("assert (", None),
    ],
)
def test_the_name_that_asserts_are_about(tests: str, name: str | None) -> None:
    assert called_by(tests) == name


@pytest.mark.slow
@pytest.mark.parametrize("path", [OWN / "humaneval.jsonl", REAL / "HumanEval.jsonl.gz"], ids=["own", "real"])
async def test_examples_of_humaneval_hold_for_the_sets_own_solutions(path: Path) -> None:
    runner = CodeRunner(concurrency=2)
    shown = 0
    for value in read(path):
        gold = humaneval.parse(value, "test").gold
        assert isinstance(gold, CodeGold)
        found = problem(gold.prompt, gold)
        if found.public_tests is None:
            continue
        shown += 1
        public = CodeGold("humaneval", found.text, found.entry_point, found.public_tests)
        outcome = await runner.run(public, value["prompt"] + value["canonical_solution"])
        assert outcome.passed, (value["task_id"], outcome)
        empty = await runner.run(public, value["prompt"] + "    raise ValueError\n") if shown < 20 else None
        assert empty is None or empty.passed is False
    await runner.close()
    # Of HumanEval's 164 docstrings, by looking through them, more than 120 hold examples of one of these forms.
    assert shown >= (120 if path.suffix == ".gz" else 40)


def test_every_row_of_mbpp_tells_its_function() -> None:
    for value in read(REAL / "mbpp.jsonl"):
        row = mbpp.parse(value, "any")
        assert isinstance(row.gold, CodeGold)
        name = called_by(row.gold.tests)
        assert f"def {name}" in row.solution or f"{name} =" in row.solution, value["task_id"]
