"""The operators as FACTS of AFlow's describe them, by hand: name -> inputs (optional ones in brackets) -> outputs."""

from pathlib import Path

from components.workflow.contract.signature import Input, Signature

TEMPLATES = Path(__file__).parents[2] / "components" / "workflow" / "templates"
_TABLE = """
Custom | input instruction | response
AnswerGenerate | input | thought answer
CustomCodeGenerate | problem entry_point instruction | response
ScEnsemble | solutions problem | response
Programmer | problem [analysis] | code output
Test | problem solution entry_point [test_loop] | result solution
Format | problem solution | solution
Review | problem solution | review_result feedback
Revise | problem solution feedback | solution
MdEnsemble | solutions problem [vote_count] | solution
"""


def _signature(line: str) -> Signature:
    name, inputs, outputs = (part.split() for part in line.split("|"))
    given = tuple(Input(each.strip("[]"), required=not each.startswith("[")) for each in inputs)
    return Signature(name[0], given, tuple(outputs))


SIGNATURES = {each.name: each for each in map(_signature, _TABLE.strip().splitlines())}


def template(domain: str) -> str:
    """A shipped template's source."""
    return (TEMPLATES / f"{domain}.txt").read_text(encoding="utf-8")


def fenced(source: str) -> str:
    """As a policy would answer with it."""
    return f"```python\n{source.rstrip()}\n```"
