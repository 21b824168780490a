"""What keeps the contract and what does not, case by case; how a program is found in a response."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_programs import PROGRAMS
from workflow_signatures import SIGNATURES, fenced, template

from components.workflow.contract.extract import LONGEST_RESPONSE, extract
from components.workflow.contract.outcome import Form, Invalid, InvalidReason, Plan, Use
from components.workflow.contract.validate import validate

HEAD = """import asyncio
from asyncio import gather


class Workflow:
    def __init__(self, name, llm_config, dataset):
        self.llm = create_llm(llm_config)
        self.custom = operator.Custom(self.llm)
        self.ensemble = operator.ScEnsemble(self.llm)

    async def helper(self, text):
        return (await self.custom(input=text, instruction="x"))["response"]

    def started(self, text):
        return self.custom(text, "x")

    async def __call__(self, problem, entry_point=None):
"""
LINES = HEAD.count("\n")
ONE = 'self.custom(input=problem, instruction="x")'


def call(body: str) -> str:
    """A response whose ``__call__`` has this body, which begins at line LINES + 2 of it."""
    return fenced(HEAD + "\n".join(f"        {line}" for line in body.strip("\n").split("\n")))


AWAITED = {
    "at once": f"r = await {ONE}\nreturn r['response'], 0",
    "in one expression": f"return (await {ONE})['response'], 0",
    "by a name": f"task = {ONE}\nr = await task\nreturn r['response'], 0",
    "gathered": f"a, b = await asyncio.gather({ONE}, {ONE})\nreturn a['response'], 0",
    "gathered by an imported name": f"a, b = await gather({ONE}, {ONE})\nreturn a['response'], 0",
    "gathered from a list": f"t = [{ONE} for _ in 'ab']\nd = await asyncio.gather(*t)\nreturn d[0]['response'], 0",
    "gathered from a generator": f"done = await asyncio.gather(*({ONE} for _ in 'ab'))\nreturn done[0]['response'], 0",
    "gathered by a name": f"both = asyncio.gather({ONE}, {ONE})\nd = await both\nreturn d[0]['response'], 0",
    "appended": f"t = []\nfor _ in 'ab':\n    t.append({ONE})\nd = await gather(*t)\nreturn d[0]['response'], 0",
    "one after the other": f"t = [{ONE}, {ONE}]\nd = [await each for each in t]\nreturn d[0]['response'], 0",
    "by place": f"t = [{ONE}, {ONE}]\nr = await t[0]\nreturn r['response'], 0",
    "in a loop": f"t = [{ONE}]\nfor each in t:\n    r = await each\n    return r['response'], 0\nreturn '', 0",
    "as completed": f"for e in asyncio.as_completed([{ONE}]):\n    return (await e)['response'], 0\nreturn '', 0",
    "by key": f"t = {{'a': {ONE}}}\nd = await asyncio.gather(*t.values())\nreturn d[0]['response'], 0",
    "by pairs": f"t = {{'a': {ONE}}}\nfor k, v in t.items():\n    return (await v)['response'], 0\nreturn '', 0",
    "with a limit of time": f"r = await asyncio.wait_for({ONE}, timeout=5)\nreturn r['response'], 0",
    "as a task": f"t = asyncio.create_task({ONE})\nr = await t\nreturn r['response'], 0",
    "in a group": (
        f"async with asyncio.TaskGroup() as group:\n    t = group.create_task({ONE})\nreturn t.result()['response'], 0"
    ),
    "one of two": f"r = await ({ONE} if len(problem) > 3 else self.custom(problem, 'y'))\nreturn r['response'], 0",
    "by a helper": "return await self.helper(problem), 0",
    "by a helper that hands it on": "return (await self.started(problem))['response'], 0",
    "by an inner function": f"async def ask():\n    return await {ONE}\nr = await ask()\nreturn r['response'], 0",
    "by a lambda": f"ask = lambda: {ONE}\nr = await ask()\nreturn r['response'], 0",
    "by a walrus": f"return (await (t := {ONE}))['response'], 0",
}
FORGOTTEN = {
    "used": f"r = {ONE}\nreturn r['response'], 0",
    "taken": f"return {ONE}['response'], 0",
    "dropped": f"{ONE}\nreturn (await {ONE})['response'], 0",
    "answered": f"return {ONE}, 0",
    "formatted": f"return f'{{{ONE}}}', 0",
    "gather itself": f"d = asyncio.gather({ONE}, {ONE})\nreturn d[0]['response'], 0",
    "gathered and iterated": f"d = asyncio.gather({ONE})\nreturn ''.join(e['response'] for e in d), 0",
    "a list of them": f"d = [{ONE} for _ in 'ab']\nreturn d[0]['response'], 0",
    "a list of them, iterated": f"d = [{ONE} for _ in 'ab']\nreturn ''.join(e['response'] for e in d), 0",
    "a list of them, awaited": f"d = await [{ONE} for _ in 'ab']\nreturn d[0]['response'], 0",
    "a helper": f"r = self.helper(problem)\nawait {ONE}\nreturn r, 0",
    "sleep": f"asyncio.sleep(1)\nreturn (await {ONE})['response'], 0",
    "given to an operator": f"r = {ONE}\nb = await self.ensemble([r['response']], problem)\nreturn b['response'], 0",
    "a task nobody waits for": f"asyncio.create_task({ONE})\nreturn (await {ONE})['response'], 0",
}


@pytest.mark.parametrize("name", AWAITED)
def test_awaited(name: str) -> None:
    found = validate(call(AWAITED[name]), SIGNATURES)
    assert isinstance(found, Plan), found
    assert {use.operator for use in found.uses} == {"Custom"}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_not_awaited(name: str) -> None:
    found = validate(call(FORGOTTEN[name]), SIGNATURES)
    assert isinstance(found, Invalid)
    assert found.reason is InvalidReason.MISSING_AWAIT, found


ENOUGH = f"r = await {ONE}\n"


@pytest.mark.parametrize(
    ("body", "reason", "line"),
    [
        ("c = operator.Custom()\nreturn '', 0", InvalidReason.OPERATOR_USE, 1),
        ("c = operator.Custom('model')\nreturn '', 0", InvalidReason.OPERATOR_USE, 1),
        ("c = [operator.Custom(self.llm)]\nreturn '', 0", InvalidReason.OPERATOR_USE, 1),
        ("self.custom = None\nreturn '', 0", InvalidReason.OPERATOR_USE, 1),
        ("c = self.custom\nreturn '', 0", InvalidReason.OPERATOR_USE, 1),
        ("c = operator\nreturn '', 0", InvalidReason.OPERATOR_USE, 1),
        ("c = create_llm\nreturn '', 0", InvalidReason.OPERATOR_USE, 1),
        (f"{ENOUGH}c = operator.custom(self.llm)\nreturn '', 0", InvalidReason.UNKNOWN_OPERATOR, 2),
        ("r = await self.custom(problem)\nreturn '', 0", InvalidReason.OPERATOR_ARGUMENTS, 1),
        ("r = await self.custom(problem, 'x', 'y')\nreturn '', 0", InvalidReason.OPERATOR_ARGUMENTS, 1),
        ("r = await self.custom(problem, input='x')\nreturn '', 0", InvalidReason.OPERATOR_ARGUMENTS, 1),
        ("r = await self.custom(*[problem, 'x'])\nreturn '', 0", InvalidReason.OPERATOR_ARGUMENTS, 1),
        (f"{ENOUGH}return r, 0", InvalidReason.RETURN_SHAPE, 2),
        (f"{ENOUGH}return [r['response']], 0", InvalidReason.RETURN_SHAPE, 2),
        (f"{ENOUGH}return r['response'], True", InvalidReason.RETURN_SHAPE, 2),
        (f"{ENOUGH}return r['answer'], 0", InvalidReason.OPERATOR_OUTPUT, 2),
        (f"{ENOUGH}return r.response, 0", InvalidReason.OPERATOR_OUTPUT, 2),
        (f"{ENOUGH}return r[0], 0", InvalidReason.OPERATOR_OUTPUT, 2),
        (f"{ENOUGH}return r.get('answer'), 0", InvalidReason.OPERATOR_OUTPUT, 2),
        (f"{ENOUGH}while True:\n    if r: break", InvalidReason.NO_RETURN, None),
        (f"{ENOUGH}try:\n    return '', 0\nexcept ValueError:\n    pass", InvalidReason.NO_RETURN, 2),
        (f"{ENOUGH}yield '', 0", InvalidReason.RETURN_SHAPE, 2),
        (f"{ENOUGH}asyncio.run(None)\nreturn '', 0", InvalidReason.FORBIDDEN_NAME, 2),
        (f"{ENOUGH}return self.lm.cost, 0", InvalidReason.UNDEFINED_ATTRIBUTE, 2),
        (f"{ENOUGH}return anwser, 0", InvalidReason.UNDEFINED_NAME, 2),
        (f"{ENOUGH}await = 3\nreturn '', 0", InvalidReason.SYNTAX, 2),
        (f"{ENOUGH}nonlocal r\nreturn '', 0", InvalidReason.SYNTAX, None),
    ],
)
def test_broken_rule_and_its_line(body: str, reason: InvalidReason, line: int | None) -> None:
    found = validate(call(body), SIGNATURES)
    assert isinstance(found, Invalid)
    assert found.reason is reason, found
    if line is not None:
        assert found.line == LINES + 1 + line


@pytest.mark.parametrize(
    "body",
    [
        f"{ENOUGH}while True:\n    return r['response'], 0",
        f"{ENOUGH}while True:\n    for x in 'ab':\n        break",
        f"{ENOUGH}try:\n    return r['response'], 0\nexcept OperatorError:\n    raise",
        f"{ENOUGH}match problem:\n    case 'a':\n        return 'a', 0\n    case _:\n        return 'b', 1.5",
        f"{ENOUGH}if r.get('response'):\n    return r['response'], self.llm.cost\nreturn 42, 0",
        f"input = 'x'\n{ENOUGH}r = {{'answer': r['response']}}\nreturn r['answer'], 0",
        f"{ENOUGH}r = 'text'\nreturn r, 0",
        f"{ENOUGH}def inner():\n    return 3\nreturn str(inner()), 0",
    ],
)
def test_kept_rules(body: str) -> None:
    if body.startswith(f"{ENOUGH}while True:\n    for"):
        body = body.replace("break", "return r['response'], 0")
    assert isinstance(validate(call(body), SIGNATURES), Plan), validate(call(body), SIGNATURES)


def test_a_plan_tells_where_operators_are_called() -> None:
    response = f"Here it is.\n\n{call(AWAITED['at once'])}\nDone."
    found = validate(response, SIGNATURES)
    assert isinstance(found, Plan)
    assert found.form is Form.MIXED
    assert found.takes_entry_point
    lines = response.split("\n")
    assert [use.operator for use in found.uses] == ["Custom"] * 3
    assert all("self.custom(" in lines[use.line - 1] for use in found.uses)


def test_the_digest_knows_no_layout_and_no_comments() -> None:
    plain = PROGRAMS["revised"]
    loose = plain.replace("    rounds = LIMIT\n", "    # as often as this\n    rounds  =  LIMIT\n\n").replace(
        '"""Writes, reviews and rewrites."""', '"""Other words."""'
    )
    other = plain.replace("LIMIT = 3", "LIMIT = 4")
    digests = [getattr(validate(fenced(each), SIGNATURES), "digest", None) for each in (plain, loose, other)]
    assert len(str(digests[0])) == len(hashlib.sha256().hexdigest())
    assert digests[0] == digests[1] != digests[2]


def test_the_digest_is_the_same_under_every_version_of_python() -> None:
    """Found under 3.11 and 3.12 alike; whatever keeps programs by it depends on that."""
    found = validate(fenced(PROGRAMS["tasks"]), SIGNATURES)
    assert isinstance(found, Plan)
    assert found.digest == "c37eb54db48ece71733dfec36fb0ef9f5c0f847accc7bd39c6a696a43bc035cb"


@pytest.mark.parametrize(
    ("response", "form", "source"),
    [
        ("```python\nx\n```", Form.EXACT, "x\n"),
        ("  ```py\nx\n  ```  \n", Form.EXACT, "x\n"),
        ("~~~\nx\n~~~", Form.EXACT, "x\n"),
        ("````python\n```\nx\n````", Form.EXACT, "```\nx\n"),
        ("<think>```python\nno\n```</think>\n```python\r\nx\r\n```", Form.EXACT, "x\n"),
        ("Sure:\n```python\nx\n```", Form.MIXED, "x\n"),
        ("```python\nclass Workflow: 1\n```\n```python\nclass Workflow: 2\n```", Form.MIXED, "class Workflow: 2\n"),
        ("```python\nclass Workflow: 1\n```\n```python\nrun()\n```", Form.MIXED, "class Workflow: 1\n"),
        ("```json\n{}\n```\n```python\nx\n```", Form.MIXED, "x\n"),
        ("import re\nclass Workflow: 1", Form.BARE, "import re\nclass Workflow: 1"),
    ],
)
def test_extraction(response: str, form: Form, source: str) -> None:
    found = extract(response)
    assert (found.form, found.source) == (form, source)
    assert response.replace("\r\n", "\n").split("\n")[found.first - 1] == source.split("\n")[0]


@pytest.mark.parametrize("domain", ["math", "code", "qa"])
def test_templates_use_the_operators_that_were_published(domain: str) -> None:
    """FACTS D.1: math Custom, ScEnsemble, Programmer; code and QA likewise."""
    published = {
        "math": {"Custom", "ScEnsemble", "Programmer"},
        "code": {"Custom", "CustomCodeGenerate", "ScEnsemble", "Test"},
        "qa": {"Custom", "AnswerGenerate", "ScEnsemble"},
    }
    found = validate(fenced(template(domain)), SIGNATURES)
    assert isinstance(found, Plan)
    assert {use.operator for use in found.uses} == published[domain]
    assert found.takes_entry_point is (domain == "code")


def test_an_operator_that_there_is_not_yet_is_known_by_its_signature_alone() -> None:
    response = call("return (await operator.Debate(self.llm)(a='x'))['b'], 0")
    assert validate(response, SIGNATURES) == Invalid(
        InvalidReason.UNKNOWN_OPERATOR,
        f"no operator is named Debate; there are {', '.join(sorted(SIGNATURES))}",
        LINES + 2,
    )
    signature = type(SIGNATURES["Custom"])("Debate", (type(SIGNATURES["Custom"].inputs[0])("a"),), ("b",))
    found = validate(response, {**SIGNATURES, "Debate": signature})
    assert isinstance(found, Plan)
    assert found.uses[-1] == Use("Debate", LINES + 2)


def test_a_response_too_long_is_not_looked_at() -> None:
    found = validate(fenced(template("qa")) + "x" * LONGEST_RESPONSE, SIGNATURES)
    assert isinstance(found, Invalid)
    assert found.reason is InvalidReason.TOO_LONG


PIECES = st.sampled_from([*call(AWAITED["appended"]).split("\n"), "```", "(", "async", "\x00", "\ud800", "é", "\\"])


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("\n".join)))
def test_any_text_has_an_outcome(text: str) -> None:
    for response in (text, f"```python\n{text}\n```", f"class Workflow:\n{text}"):
        found = validate(response, SIGNATURES)
        assert isinstance(found, Plan | Invalid)
        if isinstance(found, Invalid) and found.line is not None:
            assert 1 <= found.line <= response.replace("\r\n", "\n").count("\n") + 2
