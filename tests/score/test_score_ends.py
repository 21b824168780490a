"""How scoring ends: a budget that is used up, a judge that can never answer, answers that are not asked for again."""

import json

import pytest
from scripted_judge import MODEL, ScriptedJudge
from test_score_step import Case

from components.core.errors import JudgeError, StepError
from components.core.spec import load_experiment
from components.judge.memory import Ledger
from components.judge.verdict import UnknownReason
from components.score.judging import FINAL_REASONS
from components.score.step import STEP


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def run(case: Case, url: str, more: str = "", *, at_once: int = 2, name: str = "score") -> dict[str, object]:
    """Score the case's 20 held-out responses by the rubric protocol; ``more``: further keys of the judge."""
    judge = (
        f"judge={{name: chatty, family: test, serving: external, endpoint: '{url}', model_name: {MODEL}, cache: false, "
        f"context_tokens: 4096, timeout_seconds: 5, attempts: 1, max_concurrency: {at_once}, logprobs: false{more}}}"
    )
    spec = load_experiment("tiny", (judge, "reward=rubric", "data.train_rows=4", "data.heldout_rows=10"))
    case.last = case._context(spec, name, **case.inputs)
    return dict(STEP.run(case.last))


def test_a_used_up_budget_ends_the_scoring_and_a_higher_one_goes_on(case):
    judge = ScriptedJudge()
    with judge.serve() as url:
        with pytest.raises(JudgeError) as caught:
            run(case, url, ", budget: {calls: 7}, price: {prompt: 1000, completion: 5000, currency: EUR}")
        assert judge.calls == 7
        what = caught.value.what
        assert "judge chatty has reached its budget: budget.calls: 7 calls made of 7 allowed" in what
        # 7 calls of 100 tokens at 1000 EUR a million and 10 at 5000 EUR: 7 * (0.1 + 0.05).
        assert "spent: 7 calls, 770 tokens, 1.05 EUR" in what
        assert "raise the limit" in caught.value.remedy
        with Ledger(case.last.work / "ledger.sqlite") as ledger:
            assert sum(entry.status != "unknown" for entry in ledger.rows()) == 7
        with pytest.raises(JudgeError):
            run(case, url, ", budget: {calls: 7}", name="again")
        assert judge.calls == 7, "the earlier run's calls count"
        returned = run(case, url, ", budget: {calls: 100}", name="more")
    assert judge.calls == 20
    assert returned["base_abstained"] == returned["trained_abstained"] == 0


@pytest.mark.parametrize(
    ("limit", "said"), [("calls: 3", r"budget\.calls: 3 calls made"), ("tokens: 120", r"budget\.tokens")]
)
def test_calls_under_way_end_before_the_budget_does(case, limit: str, said: str):
    judge = ScriptedJudge()
    with judge.serve() as url, pytest.raises(JudgeError, match=said):
        run(case, url, f", budget: {{{limit}}}")
    with Ledger(case.last.work / "ledger.sqlite") as ledger:
        known = [entry for entry in ledger.rows() if entry.status != "unknown"]
        assert len(known) == judge.calls == sum(call.reason is None for call in ledger.calls()) > 0


def test_a_wrong_key_ends_it_with_the_servers_words(case):
    judge = ScriptedJudge(lambda call: 401)
    with judge.serve() as url, pytest.raises(StepError) as caught:
        run(case, url)
    assert "rejected" in caught.value.what
    assert "status 401: as scripted" in caught.value.what
    assert judge.calls <= 6


def test_an_answer_that_nobody_can_read_is_asked_for_once(case):
    """The first sample's two replies cannot be read: neither the first nor the one to the question put again."""
    judge = ScriptedJudge(reply=lambda call, verdicts: "Well." if call <= 2 else json.dumps(verdicts))
    with judge.serve() as url:
        first = run(case, url, at_once=1)
        assert judge.calls == 21
        second = run(case, url, at_once=1, name="again")
        assert judge.calls == 21
    assert first["base_abstained"] == second["base_abstained"] == 1


@pytest.mark.parametrize(
    "reason", ["undecided", "refused", "unparseable", "missing", "contradictory", "split", "truncated", "low_mass"]
)
def test_answers_are_final(reason: str):
    assert UnknownReason(reason) in FINAL_REASONS


@pytest.mark.parametrize("reason", ["timeout", "judge_down", "rejected", "budget", "stream_cut", "empty_reply"])
def test_troubles_are_not(reason: str):
    assert UnknownReason(reason) not in FINAL_REASONS
