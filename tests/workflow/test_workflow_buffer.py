"""What the experience buffer keeps, shows and forgets."""

import math
import random
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_buffer_parts import SCALE, AngleEmbedder, HashEmbedder, entry, program, spec

from components.core.errors import ContractError
from components.core.spec.workflow_buffer import BufferSpec
from components.workflow.buffer.buffer import ExperienceBuffer, Offered
from components.workflow.buffer.embed import Embedder
from components.workflow.buffer.entry import Entry, Forbidden, problem_hash
from components.workflow.ladders import load_workflow_reward
from components.workflow.reward import WorkflowReward
from components.workflow.types import Problem

NONE = Forbidden()
FORBIDDEN = Forbidden.of([("id of problem 3", "elsewhere"), ("another id", "Problem  4")])
"""One by its id alone, one by its text alone, which is written another way."""


def opened(
    folder: Path, chosen: BufferSpec | None = None, forbidden: Forbidden = NONE, embedder: Embedder | None = None
) -> ExperienceBuffer:
    return ExperienceBuffer(folder, chosen or spec(), SCALE, forbidden, embedder or HashEmbedder())


def shown(entries: Iterable[Entry]) -> list[tuple[str, float, int, str, str]]:
    return [(each.domain, each.reward, each.step, each.workflow_hash, each.problem_id) for each in entries]


def expected(offers: Sequence[Entry], step: int | None, capacity: int, least: float) -> list[Entry]:
    """The rules read one by one, over all offers at once."""
    found: list[Entry] = []
    for domain in ("math", "qa", "code"):
        allowed = [
            each
            for each in offers
            if each.domain == domain
            and each.reward >= least
            and (step is None or each.step < step)
            and each.problem_id != "id of problem 3"
            and each.problem != "problem 4"
        ]
        by_workflow: dict[str, Entry] = {}
        for each in sorted(allowed, key=place):
            by_workflow.setdefault(each.workflow_hash, each)
        found += sorted(by_workflow.values(), key=place)[:capacity]
    return found


def place(each: Entry) -> tuple[float, int, str, str, str]:
    return (-each.reward, each.step, each.workflow_hash, each.problem_hash, each.problem_id)


OFFERS = st.lists(
    st.builds(
        lambda problem, workflow, reward, step, domain: entry(
            f"problem {problem}", workflow=workflow, reward=reward, step=step, domain=domain
        ),
        st.integers(0, 6),
        st.integers(0, 5),
        st.sampled_from([-1.0, 0.49, 0.5, 0.6, 0.6, 0.7, 0.8, 0.9]),
        st.integers(1, 5),
        st.sampled_from(["math", "math", "math", "code"]),
    ),
    # With fewer, hardly two of them come into each other's way.
    min_size=12,
    max_size=30,
)


@settings(max_examples=60)
@given(offers=OFFERS, capacity=st.integers(1, 4), order=st.randoms(use_true_random=False), undone=st.integers(0, 5))
def test_every_look_is_what_the_rules_say_in_whatever_order_offers_come(
    offers: list[Entry], capacity: int, order: random.Random, undone: int
) -> None:
    order.shuffle(offers)
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Path(folder), spec(capacity=capacity), FORBIDDEN) as buffer,
    ):
        outcomes = [buffer.offer(each) for each in offers]
        for step in (None, 1, 2, 3, 4, 5, 6):
            assert shown(buffer.entries(step=step)) == shown(expected(offers, step, capacity, 0.5))
        for each, outcome in zip(offers, outcomes, strict=True):
            forbidden = each.problem_id == "id of problem 3" or each.problem == "problem 4"
            assert (outcome is Offered.TEST_PROBLEM) == forbidden
            assert (outcome is Offered.BELOW_THRESHOLD) == (not forbidden and each.reward < 0.5)
        # As if the later steps had never been, also where they had pushed something out.
        buffer.forget_after(undone)
        left = [each for each in offers if each.step <= undone]
        assert shown(buffer.entries()) == shown(expected(left, None, capacity, 0.5))
        # And repeated, they come out as the first time.
        for each in offers:
            buffer.offer(each)
        assert shown(buffer.entries()) == shown(expected(offers, None, capacity, 0.5))


def test_what_becomes_of_an_offer(tmp_path: Path) -> None:
    with opened(tmp_path, spec(capacity=2), Forbidden.of([("t", "a test problem")])) as buffer:
        assert buffer.offer(entry("p", workflow=1, reward=0.7)) is Offered.KEPT
        assert buffer.offer(entry("p", workflow=1, reward=0.7)) is Offered.DUPLICATE
        # The same workflow for another problem, and a later step: nothing new to show.
        assert buffer.offer(entry("q", workflow=1, reward=0.7, step=2)) is Offered.DUPLICATE
        assert buffer.offer(entry("q", workflow=1, reward=0.8, step=2)) is Offered.KEPT
        assert buffer.offer(entry("p", workflow=2, reward=0.6, step=2)) is Offered.KEPT
        assert buffer.offer(entry("p", workflow=3, reward=0.55, step=2)) is Offered.FULL
        assert buffer.offer(entry("p", workflow=3, reward=0.65, step=2)) is Offered.KEPT
        assert buffer.offer(entry("p", workflow=4, reward=math.nextafter(0.5, 0))) is Offered.BELOW_THRESHOLD
        assert buffer.offer(entry("A test  PROBLEM", workflow=4)) is Offered.TEST_PROBLEM
        assert buffer.offer(entry("p", problem_id="t", workflow=4)) is Offered.TEST_PROBLEM
        assert [(each.workflow_hash, each.reward) for each in buffer.entries("math")] == [
            (entry(workflow=1).workflow_hash, 0.8),
            (entry(workflow=3).workflow_hash, 0.65),
        ]
        # Other domains have room of their own.
        assert buffer.offer(entry("p", workflow=3, reward=0.55, domain="code")) is Offered.KEPT
        assert buffer.fill() == {"math": 2, "qa": 0, "code": 1}


def test_an_entry_comes_back_as_it_was_offered(tmp_path: Path) -> None:
    offered = entry("Wie groß ist\u2028x?\0 \U0001f600", workflow=7, reward=0.1 + 0.5, step=3, padding="# é\r\n\t\n")
    with opened(tmp_path) as buffer:
        buffer.offer(offered)
    with opened(tmp_path) as buffer:
        assert buffer.entries() == [offered]


@pytest.mark.parametrize(("scale", "least"), [((-1.0, 1.0), 0.5), ((-6.5, 9.2), 5.275), ((0.0, 1.0), 0.75)])
def test_the_threshold_is_a_share_of_the_scale(scale: tuple[float, float], least: float) -> None:
    assert spec().least(scale) == pytest.approx(least)


def test_both_shipped_rewards_can_reach_the_threshold() -> None:
    """The former threshold, 0.9 of a reward of at most 0.75, could not be reached."""
    for name in ("workflow", "as-described"):
        lowest, highest = load_workflow_reward(name).scale
        assert lowest < spec().least((lowest, highest)) < highest


def rewarded(value: float | None, right: bool | None) -> WorkflowReward:
    status = "abstained" if value is None else "scored"
    return WorkflowReward(status, value, {} if value is None else {"correctness": value}, right, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reward", "outcome"),
    [
        (rewarded(None, None), Offered.NOT_RIGHT),
        (rewarded(-1.0, None), Offered.NOT_RIGHT),
        (rewarded(0.9, False), Offered.NOT_RIGHT),
        (rewarded(0.4, True), Offered.BELOW_THRESHOLD),
        (rewarded(0.9, True), Offered.KEPT),
    ],
)
def test_only_what_was_scored_and_right_is_an_example(tmp_path: Path, reward: WorkflowReward, outcome: Offered) -> None:
    problem = Problem("code", "mbpp", "Write a function.", "f", None)
    with opened(tmp_path) as buffer:
        found = buffer.offer_sample("mbpp-1", problem, program(1), reward, judge="gold", executor="x", step=2)
        assert found is outcome
        assert len(buffer.entries()) == (outcome is Offered.KEPT)
        for kept in buffer.entries():
            assert (kept.problem_id, kept.domain, kept.dataset, kept.step) == ("mbpp-1", "code", "mbpp", 2)
            assert (kept.problem, kept.workflow, kept.parts) == (problem.text, program(1), {"correctness": 0.9})
    if outcome is Offered.NOT_RIGHT:
        with pytest.raises(ContractError, match="scored and right"):
            Entry.of("mbpp-1", problem, program(1), reward, judge="gold", executor="x", step=2)


def test_a_test_problem_that_got_in_is_not_shown(tmp_path: Path) -> None:
    """Such as from a training with other splits."""
    with opened(tmp_path, embedder=AngleEmbedder()) as buffer:
        buffer.offer(entry("a at 0", workflow=1))
        buffer.offer(entry("b at 10", workflow=2, reward=0.6))
    with opened(tmp_path, spec(capacity=1), Forbidden.of([("x", "a at 0")]), AngleEmbedder()) as buffer:
        assert [each.problem for each in buffer.entries()] == ["b at 10"]
        assert [each.problem for each, _ in buffer.similar("q at 1", "math")] == ["b at 10"]


class TestSimilar:
    @pytest.fixture
    def buffer(self, tmp_path: Path) -> ExperienceBuffer:
        found = opened(tmp_path, embedder=AngleEmbedder())
        for number, (problem, reward, step) in enumerate(
            [("a at 0", 0.6, 1), ("b at 60", 0.7, 2), ("c at 90", 0.8, 3), ("d at 180", 0.9, 4), ("a at 0", 0.55, 5)]
        ):
            found.offer(entry(problem, workflow=number, reward=reward, step=step))
        found.offer(entry("e at 2", workflow=9, domain="code", step=1))
        return found

    def test_by_cosine(self, buffer: ExperienceBuffer) -> None:
        found = buffer.similar("query at 30", "math", k=4)
        assert [each.problem for each, _ in found] == ["b at 60", "a at 0", "c at 90", "d at 180"]
        wanted = [math.sqrt(3) / 2, math.sqrt(3) / 2, 0.5, -math.sqrt(3) / 2]
        assert [cosine for _, cosine in found] == pytest.approx(wanted, abs=1e-6)

    def test_of_one_problem_only_the_best_workflow(self, buffer: ExperienceBuffer) -> None:
        found = buffer.similar("query at 0", "math", k=4)
        assert (found[0][0].problem, found[0][0].reward) == ("a at 0", 0.6)
        assert sum(each.problem == "a at 0" for each, _ in found) == 1

    def test_never_the_problem_itself(self, buffer: ExperienceBuffer) -> None:
        assert [each.problem for each, _ in buffer.similar("a at 0", "math", k=1)] == ["b at 60"]
        assert [each.problem for each, _ in buffer.similar(" A  at 0", "math", k=1)] == ["b at 60"]
        by_id = buffer.similar("reworded at 0", "math", k=1, problem_id="id of a at 0")
        assert [each.problem for each, _ in by_id] == ["b at 60"]

    def test_a_step_sees_what_earlier_steps_kept(self, buffer: ExperienceBuffer) -> None:
        assert buffer.at(1).similar("query at 0", "math") == []
        assert [each.problem for each, _ in buffer.at(3).similar("query at 90", "math")] == ["b at 60", "a at 0"]
        assert [each.problem for each in buffer.at(2).entries()] == ["a at 0", "e at 2"]

    def test_a_domain_by_itself(self, buffer: ExperienceBuffer) -> None:
        assert [each.problem for each, _ in buffer.similar("query at 0", "code")] == ["e at 2"]
        assert buffer.similar("query at 0", "qa") == []
        with pytest.raises(ContractError, match="no domain"):
            buffer.similar("query at 0", "maths")

    def test_none_asked_for(self, buffer: ExperienceBuffer) -> None:
        assert buffer.similar("query at 0", "math", k=0) == []

    def test_entries_come_with_their_vectors(self, buffer: ExperienceBuffer) -> None:
        ((found, _),) = buffer.similar("query at 0", "code")
        assert found.embedding is not None
        assert found.embedding == pytest.approx(AngleEmbedder().embed(["e at 2"])[0])


def test_equals_are_told_apart_by_reward_and_not_by_the_order_they_came_in(tmp_path: Path) -> None:
    found = []
    for number, order in enumerate([(0, 1, 2, 3), (3, 1, 0, 2)]):
        (folder := tmp_path / str(number)).mkdir()
        with opened(folder, embedder=AngleEmbedder()) as buffer:
            for each in order:
                buffer.offer(entry(f"{each} at 45", workflow=each, reward=0.6 if each == 2 else 0.5))
            found.append([each.problem for each, _ in buffer.similar("query at 0", "math", k=4)])
    assert found[0] == found[1]
    assert found[0][0] == "2 at 45"


def test_a_resumed_training_is_shown_what_an_unbroken_one_is(tmp_path: Path) -> None:
    """Steps 1 to 6, whole, against: steps 1 to 5, killed, undone to the checkpoint of step 3, and repeated."""

    def offers(step: int) -> list[Entry]:
        draw = random.Random(step)
        return [
            entry(f"p{draw.randrange(9)}", workflow=draw.randrange(30), reward=draw.uniform(0.3, 1), step=step)
            for _ in range(12)
        ]

    def looks(buffer: ExperienceBuffer, steps: Iterable[int]) -> list[object]:
        seen: list[object] = []
        for step in steps:
            for number in range(9):
                near = buffer.similar(f"p{number}", "math", step=step)
                seen.append([(each.problem, each.workflow_hash, cosine) for each, cosine in near])
            for each in offers(step):
                buffer.offer(each)
        return seen

    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    with opened(tmp_path / "whole", spec(capacity=5)) as buffer:
        whole = looks(buffer, range(1, 7))
        final = buffer.entries()
    with opened(tmp_path / "broken", spec(capacity=5)) as buffer:
        before = looks(buffer, range(1, 6))
    with opened(tmp_path / "broken", spec(capacity=5)) as buffer:
        assert buffer.forget_after(3) > 0
        after = looks(buffer, range(4, 7))
        assert before[: 3 * 9] + after == whole
        assert buffer.entries() == final


def test_a_problem_is_embedded_once_for_all_processes(tmp_path: Path) -> None:
    """So that a look has the same digits wherever and whenever it is repeated."""
    first, second = HashEmbedder(), HashEmbedder()
    with opened(tmp_path, embedder=first) as buffer:
        buffer.offer(entry("kept", workflow=1))
        found = buffer.similar("query", "math")
    with opened(tmp_path, embedder=second) as buffer:
        again = buffer.similar("query", "math")
        assert np.array_equal(again[0][0].embedding, found[0][0].embedding)  # type: ignore[arg-type]
    assert first.asked == ["kept", "query"]
    assert second.asked == []


def test_vectors_of_another_embedder_are_made_anew(tmp_path: Path) -> None:
    with opened(tmp_path, embedder=HashEmbedder()) as buffer:
        buffer.offer(entry("kept at 30", workflow=1))
    with opened(tmp_path, embedder=AngleEmbedder()) as buffer:
        ((_, cosine),) = buffer.similar("query at 30", "math")
    assert cosine == pytest.approx(1.0)


@pytest.mark.parametrize(
    "changes",
    [{"domain": "chess"}, {"reward": math.nan}, {"reward": math.inf}, {"step": -1}, {"problem": "  "}],
    ids=str,
)
def test_what_is_no_entry_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ContractError):
        entry(**changes)  # type: ignore[arg-type]


@given(st.text(max_size=40), st.text(" \t\n", min_size=1, max_size=3))
def test_white_space_and_case_make_no_other_problem(text: str, space: str) -> None:
    assert problem_hash(space + text.replace(" ", space)) == problem_hash(text)
    assert problem_hash("Twice " + text) != problem_hash("Thrice " + text)
