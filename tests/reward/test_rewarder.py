"""The rewarder: who is asked about which lines, what the ledger keeps, and control arms that ask nobody."""

import asyncio
import dataclasses
from pathlib import Path

import pytest
from verdicts import BROKEN, FAILED, MET, PASSED, UNMET, llm, rule, unknown

from components.core.errors import ContractError, JudgeError
from components.core.spec import load_experiment
from components.core.spec.reward import RewardSpec
from components.judge.memory import Entry, Ledger
from components.judge.panel.panel import Panel
from components.judge.rubrics import check_rubric
from components.judge.rule import Rule
from components.judge.verdict import Criterion, Sample, UnknownReason, Verdict
from components.reward.judgement import RULE, Judgement
from components.reward.rewarder import Draw, Rewarder, build_rewarder, reward_of
from components.reward.rows import check_row
from components.rules import checker
from components.score.judging import known_verdicts, latest

LINES = (rule("1 to 3 words"), llm("is kind", 2), rule("1 to 3 words again"), llm("is short", 1))


class FakeJudge:
    """Says what it is told to, and keeps a ledger as judges do."""

    def __init__(
        self, verdicts: list[Verdict], ledger: Ledger | None = None, gate: asyncio.Event | None = None
    ) -> None:
        self.verdicts, self.ledger, self.gate = verdicts, ledger, gate
        self.seen: list[Sample] = []
        self.closed = False

    async def judge(self, sample: Sample) -> list[Verdict]:
        self.seen.append(sample)
        if self.gate is not None:
            await asyncio.wait_for(self.gate.wait(), 5)
        if self.ledger is not None:
            rows = [Entry.of(sample, i, v, seconds=0, prompt_tokens=0) for i, v in enumerate(self.verdicts)]
            self.ledger.add(rows)
        return self.verdicts

    async def close(self) -> None:
        self.closed = True


class FakeRules:
    def __init__(self, verdicts: list[Verdict | None], gate: asyncio.Event | None = None) -> None:
        self.verdicts, self.gate = verdicts, gate
        self.checks = 0
        self.closed = False

    async def check(self, sample: Sample) -> list[Verdict | None]:
        self.checks += 1
        if self.gate is not None:
            self.gate.set()
        return self.verdicts

    async def close(self) -> None:
        self.closed = True


def spec(combine: str = "rubric", **changes: object) -> RewardSpec:
    protocol = "verif" if combine == "verif" else "rubric"
    return RewardSpec(name="r", combine=combine, protocol=protocol, value="binary", **changes)


def sample(*criteria: Criterion, response: str = "A kind cat.", sample_id: str = "1-1-r-0") -> Sample:
    return Sample("r", sample_id, "Write.", response, criteria)


def rewarder(reward: RewardSpec, judge: FakeJudge | None, rules: FakeRules) -> Rewarder:
    return Rewarder(reward, judge, lambda: rules)


async def test_the_judge_sees_its_lines_alone_and_the_ledger_keeps_the_rubrics_indices(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        judge = FakeJudge([MET, UNMET], ledger)
        made = Rewarder(spec(), judge, lambda: checker.RuleChecker(ledger))
        found = await made.reward(sample(*LINES))
        await made.close()
        rows = {row.criterion_index: (row.criterion, row.judge, row.status) for row in ledger.rows()}
    assert [line.text for line in judge.seen[0].criteria] == ["is kind", "is short"]
    assert [verdict.judge for verdict in found.verdicts] == ["rule", "j", "rule", "j"]
    assert rows == {
        0: ("1 to 3 words", "rule", "met"),
        1: ("is kind", "j", "met"),
        2: ("1 to 3 words again", "rule", "met"),
        3: ("is short", "j", "unmet"),
    }
    # Points 1 + 2 + 1 of 5.
    assert found.reward.value == pytest.approx(0.8)
    assert set(found.reward.parts) == {"unclipped", "earned", "penalty"}


@pytest.mark.parametrize(
    ("combine", "value", "seen"),
    # One rule holds, the other fails, and the judge says yes; points 1, 2 and 4.
    [("rubric", (1 + 4) / (1 + 2 + 4), 1), ("verif", 1 / 2, 1), ("rule_only", 1 / 3, 0)],
)
async def test_lines_of_one_text_with_other_rules_are_lines_of_their_own(
    combine: str, value: float, seen: int, tmp_path: Path
) -> None:
    tight = Rule.parse({"name": "word_count_range", "min_count": 1, "max_count": 2})
    lines = (rule("is short", 1), rule("is short", 2, tight), llm("is short", 4))
    check_row(spec(combine), lines, "row")
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        judge = FakeJudge([MET], ledger)
        asked = None if combine == "rule_only" else judge
        made = Rewarder(spec(combine), asked, lambda: checker.RuleChecker(ledger))
        found = await made.reward(sample(*lines))
        await made.close()
        entries = latest(ledger.rows())["1-1-r-0"]
    assert found.reward.value == pytest.approx(value)
    assert len(judge.seen) == seen
    for each in judge.seen:
        check_rubric(each, "j")
    if seen:
        assert known_verdicts(sample(*lines), entries) is not None
        assert [entries[place].status for place in range(3)] == ["met", "unmet", "met"]


async def test_verif_multiplies_what_rubric_adds() -> None:
    judge, rules = FakeJudge([MET, MET]), FakeRules([PASSED, None, FAILED, None])
    found = await rewarder(spec("verif"), judge, rules).reward(sample(*LINES))
    assert found.reward.value == 0.5
    assert found.reward.parts == {"rules": 0.5, "judge": 1.0, "rule_lines": 2.0, "llm_lines": 2.0}
    found = await rewarder(spec("rubric"), judge, rules).reward(sample(*LINES))
    assert found.reward.value == pytest.approx(4 / 5)


@pytest.mark.parametrize("combine", ["rubric", "verif"])
async def test_a_row_of_rules_alone_asks_no_judge(combine: str) -> None:
    judge = FakeJudge([])
    found = await rewarder(spec(combine), judge, FakeRules([PASSED])).reward(sample(rule("a")))
    assert (found.reward.value, judge.seen) == (1.0, [])
    assert not found.by_judge


@pytest.mark.parametrize("combine", ["rubric", "verif"])
async def test_a_row_without_rules_checks_none(combine: str) -> None:
    rules = FakeRules([])
    judge = FakeJudge([MET])
    made = rewarder(spec(combine), judge, rules)
    assert (await made.reward(sample(llm("a")))).reward.value == 1.0
    await made.close()
    assert (rules.checks, rules.closed, judge.closed) == (0, False, True)
    assert judge.seen[0].places is None


async def test_judge_and_rules_are_asked_at_the_same_time() -> None:
    gate = asyncio.Event()
    found = await rewarder(spec(), FakeJudge([MET, MET], gate=gate), FakeRules([PASSED, None] * 2, gate)).reward(
        sample(*LINES)
    )
    assert found.reward.value == 1.0


async def test_a_lost_check_and_a_lost_verdict_are_told_apart() -> None:
    def why(lost: Judgement) -> tuple[bool, bool, bool, str | None]:
        return lost.abstained, lost.rules_failed, lost.may_pass, lost.reward.reason

    broken, fine = FakeRules([BROKEN, None, BROKEN, None]), FakeRules([PASSED, None, FAILED, None])
    lost = await rewarder(spec("verif"), FakeJudge([MET, MET]), broken).reward(sample(*LINES))
    assert why(lost) == (True, True, False, "rules_unknown")
    lost = await rewarder(spec("verif"), FakeJudge([unknown()] * 2), fine).reward(sample(*LINES))
    assert why(lost) == (True, False, True, "known_weight")
    nothing = [unknown(UnknownReason.EMPTY_RESPONSE)] * 2
    lost = await rewarder(spec(), FakeJudge(nothing), fine).reward(sample(*LINES, response=" "))
    assert (lost.abstained, lost.empty, lost.rules_failed) == (True, True, False)
    lost = await rewarder(spec(), FakeJudge(nothing), broken).reward(sample(*LINES, response=" "))
    assert (lost.abstained, lost.empty, lost.rules_failed) == (True, True, False)
    mixed = [unknown(UnknownReason.EMPTY_RESPONSE), unknown()]
    lost = await rewarder(spec(), FakeJudge(mixed), fine).reward(sample(*LINES, response=" "))
    assert (lost.empty, lost.may_pass) == (False, True)


def test_the_judges_part_may_be_penalties_alone() -> None:
    whole = sample(rule("a"), llm("is rude", -1))
    check_rubric(whole.part([1]), "j")
    with pytest.raises(JudgeError, match="no positive points"):
        check_rubric(sample(llm("is rude", -1)), "j")


async def test_a_panel_keeps_the_rubrics_indices_too(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        panel = Panel([FakeJudge([MET, MET]), FakeJudge([MET, UNMET])], "majority", quorum=1, ledger=ledger)
        await Rewarder(spec(), panel, lambda: FakeRules([PASSED, None] * 2)).reward(sample(*LINES))
        assert [(row.criterion_index, row.criterion) for row in ledger.rows()] == [(1, "is kind"), (3, "is short")]


# --- control arms


@pytest.mark.parametrize("combine", ["length", "random", "format"])
async def test_control_arms_look_at_no_line(combine: str) -> None:
    rules = FakeRules([])
    made = rewarder(spec(combine), None, rules)
    found = await made.reward(sample(*LINES), Draw(1, 2, 3))
    await made.close()
    assert not found.abstained
    assert (list(found.verdicts), rules.checks) == ([], 0)
    assert not found.may_pass
    assert not found.unpaid


async def test_length_knows_its_target() -> None:
    found = await rewarder(spec("length", length_target=6), None, FakeRules([])).reward(sample(*LINES))
    assert found.reward.value == 0.5


async def test_a_random_reward_does_not_depend_on_the_trainers_start() -> None:
    made = rewarder(spec("random"), None, FakeRules([]))
    first = await made.reward(sample(*LINES, sample_id="4-1-r-2"), Draw(9, 4, 2))
    again = await made.reward(sample(*LINES, sample_id="4-2-r-2", response="Other."), Draw(9, 4, 2))
    other = await made.reward(sample(*LINES, sample_id="4-1-r-3"), Draw(9, 4, 3))
    assert first.reward.value == again.reward.value != other.reward.value
    with pytest.raises(ValueError, match="which sample"):
        await made.reward(sample(*LINES))


async def test_rules_alone_leave_the_judges_lines_out() -> None:
    found = await rewarder(spec("rule_only"), None, FakeRules([PASSED, None, FAILED, None])).reward(sample(*LINES))
    assert (found.reward.value, len(found.verdicts)) == (0.5, 2)
    lost = await rewarder(spec("rule_only"), None, FakeRules([BROKEN, None, FAILED, None])).reward(sample(*LINES))
    assert (lost.reward.value, lost.reward.reason, lost.rules_failed) == (None, "rules_unknown", True)
    with pytest.raises(ContractError, match="no rule line") as caught:
        await rewarder(spec("rule_only"), None, FakeRules([])).reward(sample(llm("a")))
    assert "row r" in str(caught.value)


@pytest.mark.parametrize("combine", ["rule_only", "length", "random", "format"])
async def test_where_a_judge_is_there_a_control_arm_is_judged_by_the_rubric(combine: str) -> None:
    found = await rewarder(spec(combine), FakeJudge([MET, UNMET]), FakeRules([PASSED, None] * 2)).reward(sample(*LINES))
    assert found.reward.value == pytest.approx(4 / 5)


RULES_GIVEN = (
    "data.criteria=[{text: a}, {text: 4 to 40 words, verifier: rule, "
    "rule: {name: word_count_range, min_count: 4, max_count: 40}}]"
)


@pytest.mark.parametrize("combine", ["rule_only", "length", "random", "format"])
def test_a_control_arm_needs_no_judge_to_train(combine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    experiment = load_experiment("tiny", [RULES_GIVEN, f"reward.combine={combine}", "judge.api_key_env=NO_SUCH_KEY"])
    build_rewarder(experiment, tmp_path, None, training=True)
    with pytest.raises(JudgeError, match="not deployed"):
        build_rewarder(experiment, tmp_path, None, training=False)


@pytest.mark.parametrize("combine", ["rubric", "verif"])
def test_the_other_arms_do(combine: str, tmp_path: Path) -> None:
    experiment = load_experiment("tiny", [f"reward.combine={combine}"])
    with pytest.raises(JudgeError, match="not deployed"):
        build_rewarder(experiment, tmp_path, None, training=True)


def test_verdicts_that_are_known_combine_without_anybody() -> None:
    whole = sample(*LINES)
    assert reward_of(spec("verif"), whole, [PASSED, MET, PASSED, MET]).value == 1.0
    assert reward_of(spec("length"), whole, [PASSED, MET, PASSED, UNMET]).value == pytest.approx(4 / 5)
    shouting = dataclasses.replace(whole, criteria=(rule("shouts", -2), llm("is kind")))
    assert reward_of(spec(clip=False), shouting, [PASSED, MET]).value == -1.0
    with pytest.raises(ContractError, match="is a penalty"):
        reward_of(spec("verif"), shouting, [PASSED, MET])


async def test_a_line_that_nobody_decided_is_an_error() -> None:
    made = rewarder(spec(), FakeJudge([MET, MET]), FakeRules([PASSED, None, None, None]))
    with pytest.raises(ContractError, match="checked by nobody"):
        await made.reward(sample(*LINES))


def test_rules_go_by_one_name() -> None:
    assert RULE == checker.JUDGE
