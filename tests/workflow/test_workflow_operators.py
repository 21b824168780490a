"""Each operator against a scripted model over real HTTP: what it gives; what cannot be read is a typed error."""

import re
from typing import Any

import pytest
from scripted_executor import DOUBLE, SUM, Model, broker, completion

from components.workflow.errors import OperatorError, OperatorReason
from components.workflow.operators import REGISTRY
from components.workflow.operators.base.field import Kind
from components.workflow.types import Problem

TYPES = {Kind.TEXT: str, Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.TEXTS: list}
ASKED = {"problem": "What is 40 + 2?", "solution": "It is 42."}
THREE = {"problem": "What is 40 + 2?", "solutions": ["41", "42", "about 42"]}
RIGHT = "def double(x):\n    return 2 * x"
WRONG = "def double(x):\n    return x * x"


async def called(reply: Any, operator: str, arguments: dict[str, Any], problem: Problem = SUM) -> dict[str, Any]:
    async with broker(reply if isinstance(reply, Model) else Model(reply), problem) as made:
        return dict(await made.call(operator, arguments))


async def refused(reply: Any, operator: str, arguments: dict[str, Any], problem: Problem = SUM) -> OperatorReason:
    with pytest.raises(OperatorError) as caught:
        await called(reply, operator, arguments, problem)
    return caught.value.reason


def fenced(*programs: str) -> str:
    return "\n\n".join(f"Here it is:\n```python\n{program}\n```" for program in programs)


def test_the_ten_operators_are_there_with_the_arguments_of_the_paper() -> None:
    # FACTS D.1, from the paper's code: names, arguments and keys of what is returned.
    assert {
        name: ([f.name for f in each.inputs], [f.name for f in each.outputs]) for name, each in REGISTRY.items()
    } == {
        "Custom": (["input", "instruction"], ["response"]),
        "AnswerGenerate": (["input"], ["thought", "answer"]),
        "CustomCodeGenerate": (["problem", "entry_point", "instruction"], ["response"]),
        "ScEnsemble": (["solutions", "problem"], ["response"]),
        "Programmer": (["problem", "analysis"], ["code", "output"]),
        "Test": (["problem", "solution", "entry_point", "test_loop"], ["result", "solution"]),
        "Format": (["problem", "solution"], ["solution"]),
        "Review": (["problem", "solution"], ["review_result", "feedback"]),
        "Revise": (["problem", "solution", "feedback"], ["solution"]),
        "MdEnsemble": (["solutions", "problem", "vote_count"], ["solution"]),
    }


CASES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("Custom", {"input": "What is 40 + 2?", "instruction": "Be brief."}, " 42\n", {"response": "42"}),
    (
        "AnswerGenerate",
        {"input": "What is 40 + 2?"},
        "<thought>\n40 and 2, so <b>42</b>.\n</thought>\n<answer> 42 </answer>",
        {"thought": "40 and 2, so <b>42</b>.", "answer": "42"},
    ),
    (
        "CustomCodeGenerate",
        {"problem": "Twice x.", "entry_point": "double", "instruction": ""},
        fenced(RIGHT),
        {"response": RIGHT},
    ),
    ("ScEnsemble", THREE, "<thought>B and C agree.</thought><letter>b</letter>", {"response": "42"}),
    ("ScEnsemble", THREE, "<letter>(C).</letter>", {"response": "about 42"}),
    ("Format", ASKED, "<solution>42</solution>", {"solution": "42"}),
    (
        "Review",
        ASKED,
        "<review_result>True</review_result><feedback></feedback>",
        {"review_result": True, "feedback": ""},
    ),
    (
        "Review",
        ASKED,
        "<review_result>False</review_result><feedback>No unit.</feedback>",
        {"review_result": False, "feedback": "No unit."},
    ),
    (
        "Revise",
        {**ASKED, "feedback": "No unit."},
        "<solution>42 apples\n\nfrom two boxes</solution>",
        {"solution": "42 apples\n\nfrom two boxes"},
    ),
]


@pytest.mark.parametrize(("operator", "arguments", "reply", "outputs"), CASES)
async def test_an_operator_gives_what_the_reply_says(
    operator: str, arguments: dict[str, Any], reply: str, outputs: dict[str, Any]
) -> None:
    model = Model(reply)
    made = await called(model, operator, arguments)
    assert made == outputs
    assert {field.name: TYPES[field.kind] for field in REGISTRY[operator].outputs} == {
        name: type(value) for name, value in made.items()
    }
    (prompt,) = model.prompts
    for value in arguments.values():
        for text in value if isinstance(value, list) else [value]:
            assert text in prompt


async def test_values_with_braces_are_no_fields_of_the_prompt() -> None:
    model = Model("42")
    await called(model, "Custom", {"input": "{instruction} {input} {0}", "instruction": "Copy {input}"})
    assert model.prompts == ["Copy {input}\n\n{instruction} {input} {0}"]


@pytest.mark.parametrize(
    ("operator", "arguments", "reply", "reason"),
    [
        *(
            ("ScEnsemble", THREE, f"<letter>{letter}</letter>", OperatorReason.WRONG_LETTER)
            for letter in ("D", "Z", "AB", "1", "A or B", "None", "Ä", "!")
        ),
        ("ScEnsemble", THREE, "I choose B.", OperatorReason.MISSING_FIELD),
        ("ScEnsemble", THREE, "<letter> </letter>", OperatorReason.MISSING_FIELD),
        ("ScEnsemble", THREE, "<letter>A</letter><letter>B</letter>", OperatorReason.REPEATED_FIELD),
        ("MdEnsemble", {**THREE, "vote_count": 1}, "<letter>E</letter>", OperatorReason.WRONG_LETTER),
        *(
            ("Review", ASKED, f"<review_result>{word}</review_result><feedback>x</feedback>", OperatorReason.BAD_VALUE)
            for word in ("maybe", "not true", "0", "true or false", "accept")
        ),
        ("Review", ASKED, "False", OperatorReason.MISSING_FIELD),
        ("Review", ASKED, "<review_result>false</review_result>", OperatorReason.MISSING_FIELD),
        ("AnswerGenerate", {"input": "?"}, "<thought>t</thought>", OperatorReason.MISSING_FIELD),
        ("AnswerGenerate", {"input": "?"}, "<answer>42</answer>", OperatorReason.MISSING_FIELD),
        ("AnswerGenerate", {"input": "?"}, "<thought>t <answer>42</answer></thought>", OperatorReason.MISSING_FIELD),
        ("AnswerGenerate", {"input": "?"}, "<thought>t</thought><answer>42", OperatorReason.MISSING_FIELD),
        ("AnswerGenerate", {"input": "?"}, "42", OperatorReason.MISSING_FIELD),
        ("Format", ASKED, "<solution></solution>", OperatorReason.MISSING_FIELD),
        ("Revise", {**ASKED, "feedback": "f"}, "<answer>42</answer>", OperatorReason.MISSING_FIELD),
        (
            "CustomCodeGenerate",
            {"problem": "p", "entry_point": "double", "instruction": ""},
            fenced("def triple(x):\n    return 3 * x"),
            OperatorReason.NO_CODE,
        ),
        (
            "CustomCodeGenerate",
            {"problem": "p", "entry_point": "double", "instruction": ""},
            "Use def double(x) and multiply by two.",
            OperatorReason.NO_CODE,
        ),
        ("Programmer", {"problem": "p"}, "The answer is 42.", OperatorReason.NO_CODE),
    ],
)
async def test_an_unreadable_reply_is_a_typed_error(
    operator: str, arguments: dict[str, Any], reply: str, reason: OperatorReason
) -> None:
    assert await refused(reply, operator, arguments) is reason


@pytest.mark.parametrize("operator", sorted(set(REGISTRY) - {"Test"}))
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((200, completion("")), OperatorReason.EMPTY_REPLY),
        ((200, completion(" \n", "stop")), OperatorReason.EMPTY_REPLY),
        ((200, completion("<think>hm</think>", "stop")), OperatorReason.EMPTY_REPLY),
        ((200, completion("", "length")), OperatorReason.TRUNCATED),
        ((200, completion("<think>The answer must be", "length")), OperatorReason.TRUNCATED),
    ],
    ids=["empty", "blank", "thought alone", "cut", "cut in thought"],
)
async def test_a_reply_without_words_is_a_typed_error_of_each_operator_that_asks_first(
    operator: str, reply: Any, reason: OperatorReason
) -> None:
    known = {
        **ASKED,
        **THREE,
        "input": "i",
        "instruction": "j",
        "feedback": "f",
        "entry_point": "double",
        "vote_count": 1,
        "analysis": "",
    }
    arguments = {field.name: known[field.name] for field in REGISTRY[operator].inputs}
    assert await refused(reply, operator, arguments, DOUBLE) is reason


async def test_reasoning_before_the_reply_is_left_out() -> None:
    reply = "<think>Perhaps <answer>41</answer></think><thought>t</thought><answer>42</answer>"
    assert (await called(reply, "AnswerGenerate", {"input": "?"}))["answer"] == "42"


async def test_of_several_blocks_the_last_that_defines_the_function_is_the_program() -> None:
    reply = fenced(WRONG, RIGHT, "print(double(2))")
    arguments = {"problem": "p", "entry_point": "double", "instruction": ""}
    assert (await called(reply, "CustomCodeGenerate", arguments))["response"] == RIGHT


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("Custom", {"input": "x"}),
        ("Custom", {"input": "x", "instruction": "y", "extra": "z"}),
        ("Custom", {"input": "x", "instruction": "y", "self": "z"}),
        ("Custom", {"input": 3, "instruction": "y"}),
        ("Custom", {"input": None, "instruction": "y"}),
        ("Custom", {"input": "\ud800", "instruction": "y"}),
        ("ScEnsemble", {"problem": "p", "solutions": "AB"}),
        ("ScEnsemble", {"problem": "p", "solutions": []}),
        ("ScEnsemble", {"problem": "p", "solutions": ["x"] * 27}),
        ("ScEnsemble", {"problem": "p", "solutions": ["x", ["y"]]}),
        ("ScEnsemble", {"problem": "p", "solutions": ["x", None]}),
        ("MdEnsemble", {**THREE, "vote_count": True}),
        ("MdEnsemble", {**THREE, "vote_count": "5"}),
        ("MdEnsemble", {**THREE, "vote_count": 0}),
        ("MdEnsemble", {**THREE, "vote_count": 10**30}),
        ("CustomCodeGenerate", {"problem": "p", "entry_point": "double(", "instruction": ""}),
        ("Test", {**ASKED, "entry_point": "triple"}),
        ("Test", {**ASKED, "entry_point": "double", "test_loop": 6}),
    ],
)
async def test_wrong_arguments_are_refused_before_anything_is_asked(operator: str, arguments: dict[str, Any]) -> None:
    model = Model("42")
    assert await refused(model, operator, arguments, DOUBLE) is OperatorReason.ARGUMENTS
    assert not model.prompts


async def test_no_operator_of_that_name() -> None:
    assert await refused("42", "custom", {}) is OperatorReason.UNKNOWN_OPERATOR
    assert await refused("42", "__init__", {}) is OperatorReason.UNKNOWN_OPERATOR


def candidates(prompt: str) -> list[str]:
    """The candidates of a prompt in their order."""
    return re.findall(r"^[A-Z]:\n(.*)$", prompt, re.MULTILINE)


@pytest.mark.parametrize("problem", ["one", "two", "three", "four"])
async def test_votes_are_cast_over_changing_orders_and_mapped_back(problem: str) -> None:
    four = ["first", "second", "right", "fourth"]

    def vote(prompt: str) -> str:
        return f"<letter>{'ABCD'[candidates(prompt).index('right')]}</letter>"

    model = Model(by=vote)
    made = await called(model, "MdEnsemble", {"solutions": four, "problem": problem})
    assert made == {"solution": "right"}
    assert len(model.prompts) == 5
    assert all(sorted(candidates(prompt)) == sorted(four) for prompt in model.prompts)
    assert len({tuple(candidates(prompt)) for prompt in model.prompts}) > 1


async def test_the_majority_wins_and_the_earlier_candidate_of_a_draw() -> None:
    votes = iter(["late", "early", "early", "late"])

    def vote(prompt: str) -> str:
        return f"<letter>{'AB'[candidates(prompt).index(next(votes))]}</letter>"

    arguments = {"solutions": ["early", "late"], "problem": "p"}
    assert await called(Model(by=vote), "MdEnsemble", {**arguments, "vote_count": 4}) == {"solution": "early"}
    votes = iter(["late", "early", "late"])
    assert await called(Model(by=vote), "MdEnsemble", {**arguments, "vote_count": 3}) == {"solution": "late"}


@pytest.mark.parametrize(
    ("value", "output"),
    [("40 + 2", "42"), ("'forty-two'", "forty-two"), ("0.1 + 0.2", "0.30000000000000004"), ("[1, 'a']", "[1, 'a']")],
)
async def test_programmer_runs_solve(value: str, output: str) -> None:
    program = f"def solve():\n    return {value}"
    made = await called(fenced(program), "Programmer", {"problem": "p", "analysis": "add"})
    assert made == {"code": program, "output": output}


async def test_programmer_tells_the_model_what_failed_and_tries_again() -> None:
    model = Model(
        fenced("def solve():\n    return 1 / 0"), fenced("def solve():\n    pass"), fenced("solve = lambda: 42")
    )
    made = await called(model, "Programmer", {"problem": "p"})
    assert made == {"code": "solve = lambda: 42", "output": "42"}
    assert "went wrong" not in model.prompts[0]
    assert "ZeroDivisionError" in model.prompts[1]
    assert "returned nothing" in model.prompts[2]


@pytest.mark.parametrize(
    "body", ["while True: pass", "raise SystemExit(0)", "import nowhere", "return solve()", "return 'x' * 10 ** 6"]
)
async def test_programmer_never_answers_for_a_program_that_fails(body: str) -> None:
    model = Model(fenced(f"def solve():\n    {body}"))
    assert await refused(model, "Programmer", {"problem": "p"}) is OperatorReason.PROGRAM_FAILED
    assert len(model.prompts) == 3


async def test_programmer_gives_no_text_that_cannot_be_written() -> None:
    """The workflow could hand it on to no other operator."""
    model = Model(fenced("def solve():\n    return chr(0xd800)"), fenced("def solve():\n    return 42"))
    made = await called(model, "Programmer", {"problem": "p"})
    assert made["output"] == "42"
    assert "UTF-8" in model.prompts[1]


ABOUT_DOUBLE = {"problem": DOUBLE.text, "entry_point": "double"}


async def test_whatever_a_failing_solution_says_the_model_is_told() -> None:
    model = Model(fenced(RIGHT))
    solution = fenced("def double(x):\n    raise ValueError(chr(0xd800))")
    made = await called(model, "Test", {**ABOUT_DOUBLE, "solution": solution}, DOUBLE)
    assert made["result"] is True
    assert "\\ud800" in model.prompts[0]


async def test_a_right_solution_passes_its_public_tests_without_the_model() -> None:
    model = Model("unused")
    made = await called(model, "Test", {**ABOUT_DOUBLE, "solution": fenced(RIGHT)}, DOUBLE)
    assert made == {"result": True, "solution": RIGHT + "\n"}
    assert not model.prompts


async def test_a_wrong_solution_is_mended_in_view_of_its_failure() -> None:
    model = Model(fenced("def double(x):\n    return x + 3"), fenced(RIGHT))
    made = await called(model, "Test", {**ABOUT_DOUBLE, "solution": WRONG}, DOUBLE)
    assert made == {"result": True, "solution": RIGHT}
    assert WRONG in model.prompts[0]
    assert "candidate(5) == 10" in model.prompts[0]
    assert "x + 3" in model.prompts[1]


async def test_a_solution_that_is_never_mended_is_reported_as_failing() -> None:
    model = Model(fenced(WRONG))
    made = await called(model, "Test", {**ABOUT_DOUBLE, "solution": WRONG, "test_loop": 1}, DOUBLE)
    assert made == {"result": False, "solution": WRONG}
    assert len(model.prompts) == 1


async def test_plain_asserts_are_public_tests_too() -> None:
    problem = Problem("code", "mbpp", "Write a function that doubles.", None, "assert double(2) == 4")
    arguments = {"problem": problem.text, "solution": RIGHT, "entry_point": "double"}
    assert (await called("unused", "Test", arguments, problem))["result"] is True


@pytest.mark.parametrize("tests", [None, " \n"])
async def test_a_problem_without_public_tests_has_nothing_to_test(tests: str | None) -> None:
    problem = Problem("code", "mbpp", "Write a function that doubles.", None, tests)
    arguments = {"problem": problem.text, "solution": RIGHT, "entry_point": "double"}
    assert await refused("unused", "Test", arguments, problem) is OperatorReason.NO_TESTS
