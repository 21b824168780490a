"""Functions that come with data: what they get, and which of their answers count."""

from collections.abc import Callable

import pytest

from components.judge.verdict import UnknownReason, Verdict, VerdictStatus
from components.rules.python_rule import plain_source

Decide = Callable[..., Verdict]
NO_COLONS = "import re\n\ndef check_following(instruction, response):\n    return not bool(re.search(r':', response))\n"
HEAD = "def check_following(instruction, response):\n    "


@pytest.mark.parametrize(
    ("function", "response", "met"),
    [
        (NO_COLONS, "No colons here.", True),
        (NO_COLONS, "One: here.", False),
        ("    " + NO_COLONS.replace("\n", "\n    "), "One: here.", False),
        (f"Here you are:\n```python\n{NO_COLONS}```\nIt works.", "One: here.", False),
        (f"```\n{NO_COLONS}```", "None here.", True),
        (f"~~~py\n{NO_COLONS}~~~", "None here.", True),
        (f"```python\nx = 1\n```\nand\n```python\n{NO_COLONS}```", "None here.", True),
        (f"  ```python\n  {NO_COLONS.replace(chr(10), chr(10) + '  ')}```", "One: here.", False),
        (NO_COLONS.replace("\n", "\r\n"), "One: here.", False),
        (HEAD + "return int('a' in response)", "a", True),
        (HEAD + "return int('a' in response)", "b", False),
        (HEAD + "return ('a' in response) * ('b' in response)", "ab", True),
        (HEAD + "import json, string, collections, unicodedata, datetime\n    return True", "", True),
        (HEAD + "return response == ''", "", True),
        (HEAD + "return len(response) == 300000", "x" * 300_000, True),
        (HEAD + "return response == 'é\\ud83d\\ude00'.encode('utf-16', 'surrogatepass').decode('utf-16')", "é😀", True),
    ],
)
def test_functions_decide(decide: Decide, function: str, response: str, met: bool) -> None:
    verdict = decide("python", response, function=function)
    assert verdict.status is (VerdictStatus.MET if met else VerdictStatus.UNMET), verdict.explanation
    assert verdict.probability == float(met)


def test_the_instruction_is_the_question_and_not_the_word(decide: Decide) -> None:
    function = HEAD + "return instruction == 'Name three rivers.'"
    assert decide("python", "x", question="Name three rivers.", function=function).status is VerdictStatus.MET
    assert decide("python", "x", question="instruction", function=function).status is VerdictStatus.UNMET


@pytest.mark.parametrize(
    ("function", "detail"),
    [
        (HEAD + "pass", "neither True nor False: None"),
        (HEAD + "return 2", "neither True nor False: 2"),
        (HEAD + "return 1.0", "neither True nor False: 1.0"),
        (HEAD + "return 'True'", "neither True nor False: 'True'"),
        (HEAD + "return []", "neither True nor False: []"),
        (HEAD + "return {'kind': 'value', 'text': 'true'}", "neither True nor False"),
        (HEAD + "import re\n    return re.search('x', response)", "Match"),
        (HEAD + "return undefined", "NameError"),
        (HEAD + "return 1/0", "ZeroDivisionError"),
        (HEAD + "import sys\n    sys.exit(0)", "SystemExit"),
        (HEAD + "import os\n    os._exit(0)", "crash"),
        (HEAD + "while True: pass", "timeout"),
        (HEAD + "print('[[1]]')\n    print('true')", "neither True nor False: None"),
        ("from verifier import llm_score\n" + HEAD + "return llm_score(instruction, response, 'x')", "import_error"),
        (HEAD + "return llm_score(instruction, response, 'x')", "NameError"),
        ("def follows(instruction, response): return True", "check_following"),
        ("def check_following(response): return True", "TypeError"),
        ("check_following = True", "TypeError"),
        ("def check_following(", "SyntaxError"),
        ("", "check_following"),
        ("    x = 1\n" + NO_COLONS, "IndentationError"),
    ],
)
def test_anything_else_is_no_verdict(decide: Decide, function: str, detail: str) -> None:
    verdict = decide("python", "x", function=function)
    assert verdict.status is VerdictStatus.UNKNOWN
    assert verdict.reason is UnknownReason.RULE_FAILED
    assert verdict.probability is None
    assert detail in str(verdict.explanation)


def test_source_without_fence_stays_as_it_is() -> None:
    assert plain_source(NO_COLONS) == NO_COLONS
    strings = 'def check_following(i, r):\n    return "```" in r\n'
    assert plain_source(strings) == strings
