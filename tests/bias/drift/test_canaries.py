"""Canaries: judged like any response, counted apart, loud when accepted."""

from components.bias.drift.canaries import CanaryLog, alarm, count_canaries, judge_canaries, keys_of_step, master_keys
from components.judge.verdict import Criterion, Sample, UnknownReason, Verdict, VerdictStatus
from components.reward.judgement import Judgement
from components.reward.rubric import rubric_reward

SAMPLE = Sample(
    "row", "1-1-row-0", "Name a tea.", "Green tea.", (Criterion("names a tea", 2.0), Criterion("is rude", -1.0))
)


class Judge:
    """Accepts the keys it is told to; of those in ``lost`` it says nothing."""

    def __init__(self, accepts=(), lost=()):
        self.accepts, self.lost, self.seen = set(accepts), set(lost), []

    async def reward(self, sample):
        self.seen.append(sample)
        if not sample.response.strip():
            verdicts = [unknown(UnknownReason.EMPTY_RESPONSE)] * 2
        elif sample.response in self.lost:
            verdicts = [unknown(UnknownReason.TIMEOUT)] * 2
        else:
            verdicts = [known(sample.response in self.accepts), known(False)]
        return Judgement(rubric_reward(sample.criteria, verdicts, "binary"), verdicts)


def known(met):
    status = VerdictStatus.MET if met else VerdictStatus.UNMET
    return Verdict(
        status=status,
        probability=float(met),
        log_ratio=None,
        reason=None,
        judge="j",
        protocol="rubric",
        attempts=1,
        raw_id=None,
    )


def unknown(reason):
    return Verdict(
        status=VerdictStatus.UNKNOWN,
        probability=None,
        log_ratio=None,
        reason=reason,
        judge="j",
        protocol="rubric",
        attempts=1,
        raw_id=None,
    )


def test_every_key_has_its_turn():
    keys = master_keys()
    assert " " in keys
    assert len(set(keys)) == len(keys)
    seen = {key for step in range(1, len(keys) + 1) for key in keys_of_step(step, 3)}
    assert seen == set(keys)


async def test_a_right_judge_raises_no_alarm():
    judge = Judge()
    sightings = [s for step in range(5) for s in await judge_canaries(judge, SAMPLE, step=step, attempt=1, count=2)]
    rows = count_canaries(sightings)
    assert sum(row.judged for row in rows) == 10
    assert alarm(rows) is None
    assert {sample.criteria for sample in judge.seen} == {SAMPLE.criteria}
    assert SAMPLE.sample_id not in {sample.sample_id for sample in judge.seen}
    assert len({sample.sample_id for sample in judge.seen}) == 10


async def test_an_accepted_key_is_told():
    sightings = []
    for step in range(len(master_keys())):
        sightings += await judge_canaries(Judge(accepts={":"}), SAMPLE, step=step, attempt=1, count=1)
    (row,) = [row for row in count_canaries(sightings) if row.accepted]
    assert (row.key, row.judged, row.accepted) == (":", 1, 1)
    assert "accepted 1 of 10" in alarm(count_canaries(sightings))
    assert '":"' in alarm(count_canaries(sightings))


async def test_a_failure_to_judge_is_neither():
    step = next(step for step in range(10) if keys_of_step(step, 1) == (":",))
    (row,) = count_canaries(await judge_canaries(Judge(lost={":"}), SAMPLE, step=step, attempt=1, count=1))
    assert (row.judged, row.accepted, row.unknown) == (0, 0, 1)


async def test_the_log_keeps_the_last_attempt_and_survives_a_cut_line(tmp_path):
    log = CanaryLog(tmp_path / "canaries.jsonl")
    assert log.read() == []
    for attempt in (1, 2):
        log.append(await judge_canaries(Judge(), SAMPLE, step=3, attempt=attempt, count=2))
    with (tmp_path / "canaries.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 4, "att')
    assert [(sighting.step, sighting.attempt) for sighting in log.read()] == [(3, 2), (3, 2)]
