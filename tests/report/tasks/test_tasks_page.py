"""The page of a mixture, from findings made by hand."""

import re
from typing import Any

import pytest

from components.core.spec import load_experiment
from components.report.tasks.page import build_page
from components.report.tasks.results import Results
from components.report.tasks.rollouts import Learning, Rollout, count
from components.report.tasks.summary import Findings
from components.tasks.statistics import Sampling, comparison, results

SAMPLING = Sampling(200, 0.95, 1)


def measured(right: int) -> dict[str, Any]:
    return {"gsm8k": {"accuracy": {f"{number}": [float(number < right)] for number in range(10)}}}


@pytest.fixture
def findings() -> Findings:
    models = {
        name: results(name, measured(right), SAMPLING, comparable=True, samples={"gsm8k": 10})
        for name, right in (("base", 3), ("trained", 3))
    }
    groups = count([Rollout(1, "a", f"a{reward}", "gsm8k", "math", reward, None, 10, True) for reward in (0.0, 1.0)])
    learning = Learning(groups, 0, {1: groups}, {"gsm8k": groups}, {"math": groups}, {1: {"math": 1}}, {}, 0, {}, {})
    return Findings(
        results=Results(models, comparison(measured(3), measured(3), SAMPLING), b"<svg/>"),
        learning=learning,
        agreement={},
        examples={"gains": [], "regressions": []},
        mixture={"notes": ["no row of mbpp's <training part> is trained on: they went to validation"]},
        manifests={},
    )


def text_of(findings: Findings) -> str:
    page = build_page(load_experiment("tiny_mixed"), findings)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_notes_of_the_preparation_are_told(findings: Findings) -> None:
    text = text_of(findings)
    assert "Note of prepare-data. No row of mbpp&#39;s &lt;training part&gt; is trained on: they went to" in text


def test_a_change_that_nobody_saw_is_not_certain(findings: Findings) -> None:
    text = text_of(findings)
    # 10 tasks, none of which changed: 1.96² / (10 + 1.96²) either way, for the set and for the means over sets.
    for name in ("gsm8k Accuracy", "Mean of the sets Accuracy", "Mean 4:3:3 of the domains Accuracy"):
        assert re.search(rf"{name} 30.0 % 30.0 % \S+ -27.8 to \+27.8 10 0 / 0", text.replace("\u2212", "-")), text
