"""Functions that come with data: what they get, and which of their answers count."""

import ast
import subprocess
import symtable
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from components.judge.rule import LONGEST_FUNCTION
from components.judge.verdict import UnknownReason, Verdict, VerdictStatus
from components.rules import python_source
from components.rules.python_source import plain_source

ROOT = Path(__file__).parents[2]
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


EXAMPLE = """def check_following(instruction, response):
    '''Right is:
```python
def check_following(instruction, response):
    return True
```
    '''
    return False
"""


@pytest.mark.parametrize("indented", [False, True])
def test_an_example_in_a_docstring_does_not_take_the_functions_place(decide: Decide, indented: bool) -> None:
    function = "".join(f"    {line}" for line in EXAMPLE.splitlines(True)) if indented else EXAMPLE
    assert decide("python", "x", function=function).status is VerdictStatus.UNMET


@pytest.mark.parametrize(
    ("function", "met"),
    [
        (f"```json\n{{}}\n```\n```python\n{HEAD}return False\n```\n", False),
        (f"```text\ndef check_following(\n```\n```\n{HEAD}return False\n```\n", False),
        (f"```python\ndef check_following(\n```\n```python\n{HEAD}return True\n```\n", True),
        (f"````\n{HEAD}return '```' in response\n```` \n", False),
        ("if True:\n    def check_following(i, r):\n        return True\n", True),
        ("check_following = lambda i, r: False", False),
    ],
)
def test_the_block_that_defines_the_function_is_taken(decide: Decide, function: str, met: bool) -> None:
    verdict = decide("python", "x", function=function)
    assert verdict.status is (VerdictStatus.MET if met else VerdictStatus.UNMET), verdict.explanation


def test_an_unclosed_block_is_not_run(decide: Decide) -> None:
    assert decide("python", "x", function=f"```python\n{HEAD}return True").status is VerdictStatus.UNKNOWN


def test_strings_keep_their_blanks() -> None:
    source = 'def check_following(i, r):\n    return r == """a\n   \nb"""\n'
    assert plain_source(source) == source
    assert plain_source(f"Here:\n```\n{source}```") == source
    assert plain_source('  def check_following(i, r):\n\n    return """a\n     \n  b"""') == (
        'def check_following(i, r):\n\n  return """a\n   \nb"""'
    )


@pytest.mark.parametrize(
    "text",
    [
        "```" + " " * 1_000_000 + "x\n" + HEAD + "return True\n",
        "".join("`" * length + "\n" for length in range(3, 1500)),
        "```\n" * 250_000 + "x",
        "~~~ \n```\n" * 100_000,
        " " * 1_000_000 + "\n`",
    ],
)
def test_finding_the_source_takes_linear_time(text: str) -> None:
    """In a process that is ended after some seconds of processor time; quadratic time would be hours."""
    script = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "from components.rules.python_source import plain_source\nplain_source(sys.stdin.read())"
    )
    subprocess.run([sys.executable, "-c", script], input=text, text=True, check=True, cwd=ROOT)


def test_our_own_process_parses_no_function(monkeypatch: pytest.MonkeyPatch, decide: Decide) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    for module, name in ((ast, "parse"), (symtable, "symtable"), (python_source, "plain_source")):
        monkeypatch.setattr(module, name, refuse)
    assert decide("python", "our own", function=HEAD + "return True").status is VerdictStatus.MET


@pytest.mark.parametrize("length", [LONGEST_FUNCTION + 1, 70 << 20])
def test_a_function_that_is_too_long_is_unknown(decide: Decide, length: int) -> None:
    verdict = decide("python", "x", function=(HEAD + "return True\n").ljust(length, "#"))
    assert verdict.reason is UnknownReason.RULE_FAILED
    assert "too_large" in str(verdict.explanation)


def test_a_response_that_no_request_can_hold_is_unknown(decide: Decide) -> None:
    verdict = decide("python", "x" * (65 << 20), function=HEAD + "return True")
    assert verdict.reason is UnknownReason.RULE_FAILED
    assert "too_large" in str(verdict.explanation)


def test_source_without_fence_stays_as_it_is() -> None:
    assert plain_source(NO_COLONS) == NO_COLONS
    strings = 'def check_following(i, r):\n    return "```" in r\n'
    assert plain_source(strings) == strings
