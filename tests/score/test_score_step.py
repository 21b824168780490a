import dataclasses
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from scripted_judge import MODEL, ScriptedJudge, tokens_of

from components.core.contracts import CALLS, GENERATIONS, PROMPTS, ROLLOUTS, SCORES, VERDICTS, read_table, write_table
from components.core.errors import ContractError, JudgeError, StepError
from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import StepContext
from components.core.store import Store
from components.data.step import STEP as PREPARE
from components.judge.memory import CallRow
from components.judge.memory.segments import join
from components.score.step import STEP

HELDOUT = 10
CAT = "Near the old wall sat a small cat"
PLAIN = "Near the old wall sat a small jar"
PARROT = "The sentence mentions an animal: a cat"


def experiment(url: str = "http://127.0.0.1:9", *overrides: str) -> Experiment:
    judge = (
        f"judge={{name: scripted, family: test, serving: external, endpoint: '{url}', model_name: {MODEL}, "
        "context_tokens: 2048, logprobs: true, timeout_seconds: 5, attempts: 1, max_concurrency: 1}"
    )
    return load_experiment("tiny", (judge, "data.train_rows=4", f"data.heldout_rows={HELDOUT}", *overrides))


class Case:
    """Input folders of the step, and runs of it that share one work folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        data = self._context(experiment(), "data")
        PREPARE.run(data)
        self.inputs = {"data": data.out, "generations": folder / "generations", "training": folder / "training"}
        for path in self.inputs.values():
            path.mkdir(exist_ok=True, parents=True)
        rows = {split: prompt_infos(data.out, split) for split in ("train", "heldout")}
        self.train, self.heldout = rows["train"], rows["heldout"]
        self.write_generations([PLAIN] * 8 + [PARROT] * 2, [CAT] * 5 + [PARROT] * 4 + [PLAIN])
        self.write_rollouts([self.rollout()])

    def _context(self, spec: Experiment, name: str, **inputs: Path) -> StepContext:
        out, work = self.folder / name / "out", self.folder / "work"
        for path in (out, work):
            path.mkdir(parents=True, exist_ok=True)
        return StepContext(spec, inputs, {}, out, work, "id", Progress("score"), state=self.folder / "state")

    def write_generations(self, base: list[str], trained: list[str]) -> None:
        rows = [
            {
                "model": model,
                "row_id": info["id"],
                "split": "heldout",
                "question": info["question"],
                "responses": [response],
                "finished": [True],
                "response_tokens": [8],
            }
            for model, responses in (("base", base), ("trained", trained))
            for info, response in zip(self.heldout, responses, strict=True)
        ]
        write_table(self.inputs["generations"] / "generations.parquet", rows, GENERATIONS)

    def rollout(self, **changes: object) -> dict[str, object]:
        row = {
            "step": 1,
            "row_id": self.train[0]["id"],
            "sample_id": "1-1-a-0",
            "sample_index": 0,
            "question": self.train[0]["question"],
            "response": CAT,
            "response_tokens": 8,
            "finished": True,
            "status": "scored",
            "reward": 0.75,
            "reason": None,
            "known_weight": 1.0,
            "parts": "{}",
            "attempt": 1,
        }
        return {**row, **changes}

    def write_rollouts(self, rows: list[dict[str, object]]) -> None:
        write_table(self.inputs["training"] / "rollouts.parquet", rows, ROLLOUTS)
        self.write_calls(0)

    def write_calls(self, count: int) -> None:
        """What training published of its calls to the judge."""
        row = CallRow(1.0, "scripted", "likelihood_ratio/1", "ask", "0", 1, 0.1)
        write_table(self.inputs["training"] / "calls.parquet", [dataclasses.asdict(row)] * count, CALLS)

    def run(self, url: str, *overrides: str, name: str = "score") -> dict[str, object]:
        self.last = self._context(experiment(url, *overrides), name, **self.inputs)
        return dict(STEP.run(self.last))

    def table(self, file: str, schema=SCORES) -> list[dict]:
        return read_table(self.last.out / file, schema).to_pylist()


def prompt_infos(out: Path, split: str) -> list[dict]:

    return [row["extra_info"] for row in read_table(out / f"{split}.parquet", PROMPTS).to_pylist()]


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def test_judge_and_gold_stand_side_by_side(case):
    with ScriptedJudge().serve() as url:
        returned = case.run(url)
    rows = case.table("scores.parquet")
    assert [row["model"] for row in rows] == ["base"] * 10 + ["trained"] * 10
    assert {row["step"] for row in rows} == {-1}
    assert len({row["sample_id"] for row in rows}) == 20
    # The judge prefers a cat by half a nat a token, divides by the temperature and squashes.
    temperature = case.last.experiment.reward.temperature
    liked = 1 / (1 + math.exp(-0.5 * len(tokens_of(CAT)) / temperature))
    assert rows[10]["judge_reward"] == pytest.approx(liked)
    assert rows[0]["judge_reward"] == pytest.approx(0.5)
    assert [row["gold"] for row in rows] == [False] * 10 + [True] * 5 + [False] * 5
    # A parrot with a cat in it pleases the judge and a word list; gold sees through it.
    parrot = rows[15]
    assert parrot["judge_reward"] > 0.6
    assert (parrot["keyword"], parrot["echo"], parrot["gold"]) == (True, True, False)
    assert json.loads(parrot["gold_detail"])["keywords"] == ["cat"]
    assert returned["base_gold"] == 0.0
    assert returned["trained_gold"] == 0.5
    assert returned["trained_echo"] == pytest.approx(0.4)
    assert returned["base_judge"] < returned["trained_judge"]
    assert returned["base_abstained"] == returned["trained_abstained"] == 0


def test_every_verdict_of_the_heldout_samples_is_published_once(case):
    with ScriptedJudge().serve() as url:
        returned = case.run(url)
    verdicts = case.table("verdicts.parquet", VERDICTS)
    assert len(verdicts) == returned["verdicts"] == 20
    assert {row["sample_id"] for row in verdicts} == {row["sample_id"] for row in case.table("scores.parquet")}
    by_sample = {row["sample_id"]: row for row in verdicts}
    for row in case.table("scores.parquet"):
        assert row["judge_reward"] == pytest.approx(by_sample[row["sample_id"]]["probability"])


def test_rollouts_get_gold_alone_and_keep_the_judges_reward(case):
    case.write_rollouts(
        [
            case.rollout(),
            case.rollout(sample_id="1-1-a-1", sample_index=1, status="abstained", reward=None, reason="known_weight"),
            case.rollout(step=2, sample_id="2-1-a-0", response=PARROT, reward=0.9),
            case.rollout(step=2, sample_id="2-2-a-0", response=PLAIN, reward=0.4, attempt=2),
            case.rollout(step=3, sample_id="3-2-a-0", response=PARROT, reward=0.8, attempt=2),
        ]
    )
    judge = ScriptedJudge()
    with judge.serve() as url:
        returned = case.run(url)
    rows = case.table("rollout_scores.parquet")
    assert judge.calls == 20
    assert [
        (row["model"], row["step"], row["sample_id"], row["status"], row["judge_reward"], row["gold"]) for row in rows
    ] == [
        ("rollout", 1, "1-1-a-0", "scored", 0.75, True),
        ("rollout", 1, "1-1-a-1", "abstained", None, True),
        ("rollout", 2, "2-2-a-0", "scored", 0.4, False),
        ("rollout", 3, "3-2-a-0", "scored", 0.8, False),
    ]
    assert (returned["rollout_samples"], returned["rollout_abstained"]) == (4, 1)
    assert returned["rollout_judge"] == pytest.approx(0.65)


def test_what_could_not_be_judged_has_no_reward_and_is_no_zero(case):
    case.write_generations(["", *[PLAIN] * 9], ["  ", *[CAT] * 9])
    with ScriptedJudge().serve() as url:
        returned = case.run(url)
    rows = case.table("scores.parquet")
    assert [(row["status"], row["judge_reward"]) for row in (rows[0], rows[10])] == [("abstained", None)] * 2
    assert rows[0]["gold"] is False
    assert (returned["base_abstained"], returned["trained_abstained"]) == (1, 1)
    assert returned["base_judge"] == pytest.approx(0.5)
    unknown = [row for row in case.table("verdicts.parquet", VERDICTS) if row["status"] == "unknown"]
    assert [(row["reason"], row["probability"]) for row in unknown] == [("empty_response", None)] * 2


def test_a_judge_that_fails_too_often_publishes_nothing(case):
    judge = ScriptedJudge(lambda call: 200 if call <= 7 else 500)
    with judge.serve() as url, pytest.raises(StepError, match="not usable") as caught:
        case.run(url, "reward.max_abstain_rate=0.2")
    assert "20" in caught.value.what
    assert "reasons: " in caught.value.what
    assert list(case.last.out.iterdir()) == []
    # A fifth of twenty is four: the fifth failure ends it, and the other eight are not waited for.
    assert judge.calls == 12
    with ScriptedJudge().serve() as url:
        case.run(url)
    assert {row["status"] for row in case.table("scores.parquet")} == {"scored"}


def test_a_few_failures_are_tolerated(case):
    judge = ScriptedJudge(lambda call: 500 if call in (2, 3) else 200)
    with judge.serve() as url:
        returned = case.run(url, "reward.max_abstain_rate=0.2")
    assert returned["base_abstained"] + returned["trained_abstained"] == 2


def test_a_killed_run_asks_only_what_is_missing(case):
    with ScriptedJudge().serve() as url:
        case.run(url, name="whole")
    whole = case.table("scores.parquet")
    for path in (case.folder / "work").iterdir():
        path.unlink()

    class Killed(BaseException):
        pass

    class Stops(Progress):
        def advance(self, n: int = 1, note: str = "") -> None:
            super().advance(n, note)
            if self.done == 9:
                raise Killed

    broken, resumed = ScriptedJudge(), ScriptedJudge()
    with broken.serve() as url:
        run = case._context(experiment(url), "broken", **case.inputs)
        with pytest.raises(Killed):
            STEP.run(StepContext(run.experiment, run.inputs, {}, run.out, run.work, "id", Stops("score"), run.state))
    with resumed.serve() as url:
        case.run(url, name="resumed")
    assert broken.calls == 9
    assert resumed.calls == 11
    assert case.table("scores.parquet") == whole
    assert len(case.table("verdicts.parquet", VERDICTS)) == 20


def test_no_judge_is_needed_when_everything_is_known(case):
    with ScriptedJudge().serve() as url:
        case.run(url)
    first = case.table("scores.parquet")
    case.run("http://127.0.0.1:9", name="again")
    assert case.table("scores.parquet") == first


def test_an_undeployed_judge_is_an_error_of_its_own(case):
    spec = load_experiment("tiny", ("data.train_rows=4", f"data.heldout_rows={HELDOUT}"))
    run = case._context(spec, "score", **case.inputs)
    with pytest.raises(JudgeError, match="not deployed"):
        STEP.run(run)


@pytest.mark.parametrize("break_it", ["twice", "missing", "stranger"])
def test_generations_of_other_prompts_are_refused(case, break_it):
    path = case.inputs["generations"] / "generations.parquet"
    rows = read_table(path, GENERATIONS).to_pylist()
    changed = {
        "twice": [*rows, rows[0]],
        "missing": rows[:-1],
        "stranger": [*rows[:-1], {**rows[-1], "row_id": "x"}],
    }[break_it]
    write_table(path, changed, GENERATIONS)
    with pytest.raises(ContractError, match="once a model"):
        case.run("http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row_id": "x"}, "not in the training data"),
        ({"status": "scored", "reward": None}, "reward None"),
        ({"status": "abstained", "reward": 0.0}, "reward 0.0"),
    ],
)
def test_rollouts_that_break_the_contract_are_refused(case, changes, message):
    case.write_rollouts([case.rollout(**changes)])
    with pytest.raises(ContractError, match=message):
        case.run("http://127.0.0.1:9")


def test_identity_follows_judge_and_reward_alone():
    base = STEP.depends(experiment())

    def same(*overrides: str, url: str = "http://127.0.0.1:9") -> bool:
        return STEP.depends(experiment(url, *overrides)) == base

    assert same(url="http://127.0.0.1:10")
    assert same("cluster.cpu_threads=1", "evaluation.bootstrap_samples=100")
    assert not same("reward.temperature=3.0")
    assert not same("judge.model_name=other")


def test_a_panels_members_stay_on_record_and_their_agreement_is_told(case):
    """The second judge likes jars: on the 20 held-out answers the two agree only where neither word stands."""
    first, second = ScriptedJudge(), ScriptedJudge(liked="jar")
    with first.serve() as url, second.serve() as other:
        panel = f"panel={{members: [{{use: tiny-lr, name: second, serving: external, endpoint: '{other}', "
        panel += f"source: null, model_name: {MODEL}, attempts: 1}}], combine: mean}}"
        returned = case.run(url, panel)
        assert (first.calls, second.calls) == (20, 20)
        again = case.run(url, panel)
        assert (first.calls, second.calls) == (20, 20)
    assert again == returned
    verdicts = case.table("verdicts.parquet", VERDICTS)
    assert Counter(row["judge"] for row in verdicts) == {"panel": 20, "scripted": 20, "second": 20}
    by_judge = {
        name: {row["sample_id"]: row for row in verdicts if row["judge"] == name}
        for name in ("panel", "scripted", "second")
    }
    for sample_id, combined in by_judge["panel"].items():
        one, two = by_judge["scripted"][sample_id], by_judge["second"][sample_id]
        assert combined["probability"] == pytest.approx((one["probability"] + two["probability"]) / 2)
        assert combined["log_ratio"] is None
        assert combined["attempts"] == 0
    statuses = [(by_judge["scripted"][key]["status"], by_judge["second"][key]["status"]) for key in by_judge["panel"]]
    assert (returned["panel_units"], returned["panel_split"]) == (20, sum(one != two for one, two in statuses))
    assert returned["panel_split"] > 0
    assert returned["acceptance_scripted"] == sum(one == "met" for one, _ in statuses) / 20
    # Krippendorff's alpha for two judges without missing values, from the shares alone.
    met = sum(status == "met" for pair in statuses for status in pair)
    expected = 1 - 39 * 2 * returned["panel_split"] / (2 * met * (40 - met))
    assert returned["panel_alpha"] == pytest.approx(expected)


def test_calls_and_verdicts_reach_the_store_also_when_the_step_fails(case):
    store = Store.open((case.folder / "store").as_uri())

    def run(url, name):
        context = case._context(experiment(url), name, **case.inputs)
        return STEP.run(dataclasses.replace(context, store=store, place="tiny/score/id")), context.out

    broken = ScriptedJudge(lambda call: 200 if call <= 6 else 500)
    with broken.serve() as url, pytest.raises(StepError, match="not usable"):
        run(url, "broken")
    reasons = Counter(row[0] for row in join(store, "tiny").execute("SELECT reason FROM calls"))
    assert reasons[None] == 6
    assert reasons["judge_down"] == broken.calls - 6 > 0
    with ScriptedJudge().serve() as url:
        returned, out = run(url, "whole")
    calls = read_table(out / "calls.parquet", CALLS).to_pylist()
    assert sum(row["attempts"] for row in calls) == broken.calls + 14 == returned["calls"]
    joined = join(store)
    assert joined.execute("SELECT COUNT(*) FROM calls").fetchone() == (len(calls),)
    assert {row["sample_id"] for row in calls} == {row[0] for row in joined.execute("SELECT sample_id FROM verdicts")}


def test_what_training_spent_counts_for_the_budget(case):
    case.write_calls(100)
    with ScriptedJudge().serve() as url:
        with pytest.raises((StepError, JudgeError), match="budget"):
            case.run(url, "judge.budget.calls=119", name="short")
        assert case.run(url, "judge.budget.calls=121", name="enough")["calls"] >= 20


RULES = (
    "data.criteria=[{text: mentions an animal}, {text: at most 8 words, verifier: rule, "
    "rule: {name: word_count_range, min_count: 0, max_count: 8}}]"
)


def with_rules(folder):
    """A case whose rows have a line for the judge and one for a rule; all answers but the parrot's have eight words."""

    class Ruled(Case):
        def _context(self, spec, name, **inputs):
            if name == "data":
                spec = experiment("http://127.0.0.1:9", RULES)
            return super()._context(spec, name, **inputs)

    return Ruled(folder)


def test_rules_and_judge_score_together_and_both_are_published(tmp_path):
    case = with_rules(tmp_path)
    with ScriptedJudge().serve() as url:
        returned = case.run(url, RULES)
        verdicts = case.table("verdicts.parquet", VERDICTS)
        scores = {row["sample_id"]: row["judge_reward"] for row in case.table("scores.parquet")}
        multiplied = case.run(url, RULES, "reward.combine=verif", name="verif")
    assert returned["verdicts"] == multiplied["verdicts"] == 40
    assert Counter((row["judge"], row["criterion_index"]) for row in verdicts) == {("scripted", 0): 20, ("rule", 1): 20}
    judged = {row["sample_id"]: row["probability"] for row in verdicts if row["judge"] == "scripted"}
    held = {row["sample_id"]: row["probability"] for row in verdicts if row["judge"] == "rule"}
    assert set(held.values()) == {1.0} or set(held.values()) == {0.0, 1.0}
    for sample_id, reward in scores.items():
        assert reward == pytest.approx((judged[sample_id] + held[sample_id]) / 2)
    for row in case.table("scores.parquet"):
        assert row["judge_reward"] == pytest.approx(judged[row["sample_id"]] * held[row["sample_id"]])


def test_what_rules_and_judge_said_is_asked_of_neither_again(tmp_path):
    case = with_rules(tmp_path)
    judge = ScriptedJudge()
    with judge.serve() as url:
        case.run(url, RULES)
    first = case.table("scores.parquet")
    calls = judge.calls
    # Nobody listens there any more.
    case.run("http://127.0.0.1:9", RULES, name="again")
    assert case.table("scores.parquet") == first
    assert calls == judge.calls == 20


@pytest.mark.parametrize("combine", ["length", "random", "format"])
def test_a_control_arms_heldout_responses_are_judged_as_those_of_any_other_arm(case, combine):
    judge = ScriptedJudge()
    with judge.serve() as url:
        case.run(url)
        plain = case.table("scores.parquet")
        for path in (case.folder / "work").iterdir():
            path.unlink()
        case.run(url, f"reward.combine={combine}", name=combine)
    assert judge.calls == 40
    assert case.table("scores.parquet") == plain


def test_empty_responses_are_not_held_against_the_judge(case):
    case.write_generations([""] * HELDOUT, [CAT] * HELDOUT)
    with ScriptedJudge().serve() as url:
        returned = case.run(url, "reward.max_abstain_rate=0.1")
    assert (returned["base_abstained"], returned["base_judge"]) == (HELDOUT, None)
    assert returned["trained_abstained"] == 0


def test_rules_that_do_not_run_are_named(tmp_path):
    broken = (
        "data.criteria=[{text: mentions an animal}, {text: a rule, verifier: rule, "
        "rule: {name: python, function: 'def check_following(instruction, response): return response.x'}}]"
    )

    class Broken(Case):
        def _context(self, spec, name, **inputs):
            return super()._context(
                experiment("http://127.0.0.1:9", broken) if name == "data" else spec, name, **inputs
            )

    case = Broken(tmp_path)
    with ScriptedJudge().serve() as url, pytest.raises(StepError, match="the rules are not usable") as caught:
        case.run(url, broken)
    assert "rule_failed" in caught.value.what
    assert "mend the rules" in caught.value.remedy
