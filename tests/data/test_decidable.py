"""Rules that can decide nothing are told by line while data are prepared."""

import json
from pathlib import Path

import pytest

from components.core.errors import ContractError
from components.core.spec import load_experiment
from components.data.decidable import check_decidable
from components.data.item import Item
from components.data.step import load_items
from components.judge.rule import Rule
from components.judge.verdict import Criterion

GOOD = "def check_following(instruction, response):\n    return True\n"


def check(**rule: object) -> None:
    line = Criterion("a line", 1.0, "rule", (), Rule.parse(rule))
    check_decidable([Item("q", "t", (Criterion("kind"), line), None, where="f.jsonl, line 3")], source="f.jsonl")


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("def check_following(a, b)\n  return True", "no Python"),
        ("check_following the rules", "no Python"),
        ("", "does not define check_following"),
        ("x = 1", "does not define check_following"),
        ("def check(a, b): return True", "does not define check_following"),
        ("class A:\n    def check_following(self, a, b): return True", "does not define check_following"),
        ("def outer():\n    def check_following(a, b): return True", "does not define check_following"),
        ("def check_following(a, b): return \0", "no Python"),
        ("check_following" + "(" * 5000, "no Python"),
    ],
)
def test_a_function_that_can_never_run_is_told(function: str, told: str) -> None:
    with pytest.raises(ContractError, match=told) as caught:
        check(name="python", function=function)
    assert caught.value.where == "f.jsonl, line 3"
    assert caught.value.remedy


@pytest.mark.parametrize(
    "function",
    [
        GOOD,
        "    " + GOOD.replace("\n    ", "\n        "),
        f"```python\n{GOOD}```",
        GOOD.replace("\n", "\r\n"),
        "check_following = lambda instruction, response: True",
        f"try:\n    import re\nexcept ImportError:\n    re = None\n{GOOD}",
        "if True:\n    def check_following(a, b): return True",
        "exec('check_following = print')",
        "import re\ndef check_following(a, b): return re.search('\\d', b)",
        "# check_following" + "#" * 200_000,
    ],
)
def test_a_function_that_may_run_is_taken(function: str) -> None:
    check(name="python", function=function)


def test_an_empty_answer_is_told() -> None:
    with pytest.raises(ContractError, match="its answer is empty"):
        check(name="math_verify", answer=" ")
    check(name="math_verify", answer="5")
    check(name="word_count_range", min_count=1, max_count=2)


@pytest.mark.parametrize("kind", ["jsonl", "verif_rows"])
def test_the_data_step_names_the_lines(tmp_path: Path, kind: str) -> None:
    def row(number: int) -> dict[str, object]:
        function = "def check(a, b): pass" if number in (2, 4) else GOOD
        if kind == "verif_rows":
            return {"prompt": f"Say {number}.", "checkers": ["[rule] Form: short"], "functions": [function]}
        rule = {"text": "short", "verifier": "rule", "rule": {"name": "python", "function": function}}
        return {"prompt": f"Say {number}.", "criteria": [rule]}

    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row(number)) + "\n" for number in range(1, 7)))
    given = [f"data.kind={kind}", f"data.path={file}", "data.criteria=[]", "data.gold=null", "data.heldout_rows=2"]
    with pytest.raises(ContractError, match="2 of 6 rows cannot be used") as caught:
        load_items(load_experiment("tiny", [*given, "data.train_rows=4"]))
    assert "line 2: the rule of" in caught.value.what
    assert "line 4: the rule of" in caught.value.what


def test_a_task_needs_a_gold_that_can_be_read() -> None:
    check(name="task", metric="exact", gold='{"answer":"3","dataset":"math"}')
    for gold, told in (("3", "must be an object"), ('{"answer":" ","dataset":"math"}', "blank"), ("{", "no JSON")):
        with pytest.raises(ContractError, match=f"its gold cannot be read .*{told}"):
            check(name="task", metric="exact", gold=gold)
