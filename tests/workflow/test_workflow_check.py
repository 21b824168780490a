"""The quick tests themselves: they pass on this tree, and fail where something is broken."""

import asyncio
import multiprocessing

import pytest
from aiohttp import web
from scripted_executor import Model, completion
from workflow_signatures import SIGNATURES

from components.core.errors import ConfigError, StepError
from components.core.spec import load_experiment
from components.workflow import __main__ as cli
from components.workflow import check
from components.workflow.checks import generator, judging, policy, scripted
from components.workflow.checks.finding import Finding, table
from components.workflow.checks.problems import KNOWN, WRONG_PROGRAM
from components.workflow.checks.waiting import waiting
from components.workflow.contract.validator import Validator


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path))


def test_everything_works_without_an_experiment(capsys) -> None:
    assert cli.main(["check"]) == 0
    said = capsys.readouterr().out
    assert said.count("a valid plan of") == 9
    assert said.count("refused, ") == 3
    assert "public tests" in said
    assert "mended until they pass" in said
    assert said.rstrip().endswith("all that is needed works")


def test_an_executor_that_mends_nothing_is_noticed(capsys, monkeypatch) -> None:
    monkeypatch.setattr(scripted, "RIGHT_PROGRAM", WRONG_PROGRAM)
    assert check.main([]) == 1
    said = capsys.readouterr().out
    assert "deciding tests" in said
    assert "2 of 21 do not work" in said


async def test_a_scorer_that_takes_all_for_right_is_noticed(monkeypatch) -> None:
    class Kind:
        async def score(self, gold, answer):
            return judging_score

    from components.tasks.score import TaskScore

    judging_score = TaskScore(True)
    found = await judging.check_gold(Kind())
    assert [each.works for each in found] == [True, False] * len(KNOWN)


async def test_a_validator_that_takes_all_for_valid_is_noticed() -> None:
    from components.workflow.contract.validate import validate

    class Kind:
        async def validate(self, response):
            return validate("```python\n" + generator.skeleton(entry_point=False) + "\n```", SIGNATURES)

    found = await generator.check_texts(Kind())
    assert [each.works for each in found] == [True] * 9 + [False] * 3


class JudgeModel(Model):
    """Judges are asked in two turns, of which the second one counts here."""

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.prompts.append((await request.json())["messages"][-1]["content"])
        assert self.by is not None
        return web.json_response(completion(self.by(self.prompts[-1])))


@pytest.mark.parametrize(("knows", "works"), [(True, [True, True]), (False, [True, False])])
async def test_a_judge_is_asked_about_a_right_and_a_wrong_answer(knows: bool, works: list[bool], tmp_path) -> None:
    """As training asks, where workflow.correctness leaves the answer to the judge."""
    wrong = KNOWN[1].wrong

    def by(prompt: str) -> str:
        same = "false" if knows and wrong in prompt else "true"
        return f'{{"explanation": "So it is.", "same": {same}}}'

    model = JudgeModel(by=by)
    async with model.serve() as url:
        changes = ("workflow.correctness.qa=judge", "data.mixture.decided_by.qa=judge", "judge.serving=external",
                   f"judge.endpoint={url}", "judge.source=null")  # fmt: skip
        found = await judging.check_judge(load_experiment("workflow_small", changes), tmp_path)
        again = await judging.check_judge(load_experiment("workflow_small", changes), tmp_path)
    assert [each.works for each in found] == [each.works for each in again] == works
    assert all(KNOWN[1].problem.text in prompt for prompt in model.prompts)
    # No kept reply answered in the judge's place.
    assert len(model.prompts) == 4


@pytest.mark.parametrize("name", ["tiny_mixed", "quickstart"])
def test_an_experiment_without_workflows_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no part workflow"):
        check.main(["--experiment", name])


def test_an_executor_that_is_not_there_is_told_with_a_remedy(capsys) -> None:
    assert check.main(["--experiment", "workflow_small", "workflow.executor.serving=external",
                       "workflow.executor.endpoint=http://127.0.0.1:9", "workflow.executor.source=null",
                       "workflow.executor.attempts=1", "workflow.executor.timeout_seconds=3"]) == 1  # fmt: skip
    said = capsys.readouterr().out
    assert "not asked: the official checks decide" in said
    assert "HumanEval with smollm2-chat: run" in said
    assert "abstained" in said


def test_usage(capsys) -> None:
    assert cli.main(["chek"]) == 2
    assert "no command 'chek'" in capsys.readouterr().err
    assert cli.main(["--help"]) == 0
    with pytest.raises(SystemExit):
        check.main(["--policy"])


async def heard(*said: tuple[bool, str], end: bool = False) -> list[Finding]:
    """What the check finds of a policy whose process says this, and then ends or stays silent."""
    here, there = multiprocessing.Pipe(duplex=False)
    for each in said:
        there.send(each)
    if end:
        there.close()
    validator = Validator(SIGNATURES)
    try:
        return [each async for each in policy.findings(here, "policy p", validator, loading=0.05, writing=0.05)]
    finally:
        await validator.close()
        here.close()
        there.close()


async def test_a_policy_s_workflows_are_told_one_by_one_and_its_time_is_bounded(capsys) -> None:
    good = "```python\n" + generator.skeleton(entry_point=False) + "\n```"
    found = await heard((False, ""), (False, good), (False, "I would rather not."))
    assert [(each.name, each.works, each.fails) for each in found] == [
        ("policy p: math", True, False),
        ("policy p: qa", False, False),
        ("policy p: code", None, False),
    ]
    assert "no_code" in found[1].text
    assert "not written within 0.05 s" in found[2].text
    assert "policy p: writing a workflow, math (at most 0:00)" in capsys.readouterr().out


async def test_a_policy_that_is_not_loaded_in_time_is_not_tried() -> None:
    (found,) = await heard()
    assert (found.works, found.fails) == (None, False)
    assert "not loaded" in found.text


async def test_a_policy_that_cannot_be_loaded_is_an_error() -> None:
    with pytest.raises(StepError, match="no weights"):
        await heard((True, "no weights"))
    with pytest.raises(StepError, match="process ended"):
        await heard((False, ""), end=True)


async def test_whoever_waits_is_told_how_long(capsys) -> None:
    async with waiting("loading", 65.0, every=0.01):
        await asyncio.sleep(0.1)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "loading (at most 1:05) ..."
    assert said[1].startswith("loading: 0:00 of at most 1:05")


def test_only_what_is_needed_fails_the_check() -> None:
    found = [Finding("a", True, "x"), Finding("b", False, "y", needed=False), Finding("c", None, "z")]
    assert not any(each.fails for each in found)
    assert [line.split()[1] for line in table(found).splitlines()] == ["ok", "NO", "-"]
