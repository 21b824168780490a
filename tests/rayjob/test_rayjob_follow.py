"""The step outside of its job: against a pretended API server with pretended operators, or a real one with these."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from kube_fixture import Api
from operators import Ray, RayOperator
from ray_training import BASE, IDENTITY, PLACE, Played, training

from components.core.errors import JudgeError, StepError
from components.kube.kinds import RAY_JOBS
from components.rayjob import messages
from components.rayjob.messages import Failure
from components.rayjob.patience import Patience
from components.rayjob.step import run

QUICK = Patience(stall=60.0, pause=60.0, poll=0.1, trouble=0.3)


def follow(api: Api, played: Played, patience: Patience = QUICK) -> None:
    run(played.asked, api.cluster(), training(played.asked.experiment), patience)


def jobs(api: Api) -> list[str]:
    return [str(job["metadata"]["name"]) for job in api.cluster().list(RAY_JOBS)]


def status(api: Api, name: str = BASE) -> Any:
    found = api.cluster().get(RAY_JOBS, name)
    return None if found is None else (found.get("status") or {}).get("jobDeploymentStatus")


def wait_for(what: Callable[[], Any], seconds: float = 20.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


class InThread:
    """Follows beside the test."""

    def __init__(self, api: Api, played: Played, patience: Patience = QUICK) -> None:
        self.error: BaseException | None = None

        def work() -> None:
            try:
                follow(api, played, patience)
            except BaseException as error:  # noqa: BLE001  raised again in the test
                self.error = error

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def result(self) -> None:
        self.thread.join(30.0)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error


@contextmanager
def saying(api: Api, played: Played, failure: Failure) -> Iterator[None]:
    """A driver that leaves a word once its job is there."""

    def work() -> None:
        wait_for(lambda: jobs(api))
        played.fail(failure)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join()


def test_a_job_is_submitted_followed_and_its_end_is_the_steps(api: Api, played: Played) -> None:
    with RayOperator(api, Ray("succeeds", running=1.0)) as operator, played.beating([BASE], every=0.02):
        played.publish()
        follow(api, played)
    assert jobs(api) == [BASE]
    assert status(api) == "Complete"
    assert "step " in played.output
    assert operator.failures == []


def test_in_the_queue_it_says_for_what_it_waits_and_goes_on(api: Api, queued: Played) -> None:
    with RayOperator(api, Ray("succeeds", queued=1.0)):
        queued.publish()
        follow(api, queued)
    assert "waiting in queue gavel: couldn't assign flavors" in queued.output
    assert "insufficient unused quota" in queued.output
    assert status(api) == "Complete"


def test_a_queue_without_an_end_has_one_in_queue_minutes(api: Api, queued: Played) -> None:
    patience = Patience(stall=60, pause=60, poll=0.1, queue=1.5)
    with RayOperator(api, Ray("queued")), pytest.raises(StepError, match="insufficient unused quota") as caught:
        follow(api, queued, patience)
    assert "queue_minutes" in caught.value.what
    assert jobs(api) == []


def test_nodes_that_never_come_end_the_wait_too(api: Api, played: Played) -> None:
    patience = Patience(stall=60, pause=60, poll=0.1, queue=1.5)
    with RayOperator(api, Ray(trouble="unschedulable")), pytest.raises(StepError, match="unschedulable in "):
        follow(api, played, patience)
    assert jobs(api) == []


def test_an_image_that_cannot_be_pulled_is_told(api: Api, played: Played) -> None:
    with RayOperator(api, Ray(trouble="image-pull")), pytest.raises(StepError, match="image-pull in "):
        follow(api, played)
    assert jobs(api) == []


def test_a_failure_without_a_word_of_the_driver_has_its_last_lines(double: Api, played: Played) -> None:
    behaviour = Ray("fails", log="driver: step 1/2\nRuntimeError: NCCL is out of socks\n")
    with RayOperator(double, behaviour), pytest.raises(StepError, match="NCCL is out of socks") as caught:
        follow(double, played)
    assert "AppFailed" in caught.value.what
    assert BASE in caught.value.where
    # It stays for people to look at.
    assert jobs(double) == [BASE]


def test_a_pod_that_was_out_of_memory_is_named_with_its_remedy(api: Api, played: Played) -> None:
    behaviour = Ray("fails", trouble="out-of-memory", started=True)
    with RayOperator(api, behaviour), pytest.raises(StepError, match="out-of-memory in ") as caught:
        follow(api, played)
    assert "cluster.memory_gib" in caught.value.remedy


@pytest.mark.parametrize("kind", [JudgeError, StepError])
def test_the_drivers_own_error_is_raised_again(api: Api, played: Played, kind: type[StepError]) -> None:
    said = Failure.of(BASE, kind("the judge is out", where="reward", remedy="wake it"))
    behaviour, wanted = Ray("fails", running=0.5), pytest.raises(kind, match="the judge is out")
    with RayOperator(api, behaviour), saying(api, played, said), wanted as caught:
        follow(api, played)
    assert (caught.value.where, caught.value.remedy) == ("reward", "wake it")


def test_an_old_word_of_another_attempt_is_not_taken_for_this_ones(api: Api, played: Played) -> None:
    said = Failure.of(f"{BASE}-r4", JudgeError("the judge is out"))
    behaviour, wanted = Ray("fails", running=0.5), pytest.raises(StepError, match="AppFailed")
    with RayOperator(api, behaviour), saying(api, played, said), wanted:
        follow(api, played)


def test_an_old_word_under_a_number_that_comes_again_is_gone(api: Api, played: Played) -> None:
    played.fail(Failure.of(BASE, JudgeError("the judge is out")))
    with RayOperator(api, Ray("fails")), pytest.raises(StepError, match="AppFailed"):
        follow(api, played)


def test_each_start_of_the_step_after_a_failure_is_one_further_attempt(api: Api, played: Played) -> None:
    with RayOperator(api, Ray("fails")) as operator:
        for _ in range(2):
            with pytest.raises(StepError):
                follow(api, played)
        assert jobs(api) == [BASE, f"{BASE}-r1"]
        operator.default = Ray("succeeds")
        played.publish()
        follow(api, played)
    assert jobs(api) == [BASE, f"{BASE}-r1", f"{BASE}-r2"]


def test_after_the_last_number_they_begin_anew(double: Api, played: Played) -> None:
    with RayOperator(double, Ray("fails", starting=0.0, running=0.0, queued=0.0)):
        for _ in range(11):
            with pytest.raises(StepError):
                follow(double, played)
    assert jobs(double) == [BASE]


def test_a_hung_trainer_is_ended_and_begins_again_at_most_three_times(api: Api, played: Played) -> None:
    patience = Patience(stall=0.6, pause=60, poll=0.1)
    with RayOperator(api, Ray("hangs")), pytest.raises(StepError, match="hung 3 times in a row: no progress"):
        follow(api, played, patience)
    assert played.output.count("is submitted") == 3
    assert jobs(api) == []
    # The next start of the step gets three again.
    assert messages.read_attempts(played.store, PLACE).hangs == 0


def test_the_attempt_after_a_hang_goes_on(api: Api, played: Played) -> None:
    patience = Patience(stall=0.8, pause=60, poll=0.1)
    plans = {BASE: Ray("hangs"), f"{BASE}-r1": Ray("succeeds", running=2.0)}
    with RayOperator(api, behaviours=plans), played.beating([f"{BASE}-r1"]):
        followed = InThread(api, played, patience)
        wait_for(lambda: jobs(api) == [f"{BASE}-r1"])
        played.publish()
        followed.result()
    assert f"{BASE} was ended, hang 1 of 3" in played.output


def test_hangs_are_counted_over_a_restart_of_the_step(api: Api, played: Played) -> None:
    messages.write(played.store, PLACE, "attempts.json", messages.Attempts(newest=1, hangs=2))
    patience = Patience(stall=0.6, pause=60, poll=0.1)
    with RayOperator(api, Ray("hangs")), pytest.raises(StepError, match="hung 3 times"):
        follow(api, played, patience)
    assert played.output.count("is submitted") == 1
    assert f"{BASE}-r2 is submitted" in played.output


def test_a_trainer_that_says_that_it_hung_begins_again(api: Api, played: Played) -> None:
    said = Failure(BASE, "StepError", "the trainer hung", hung=True)
    plans = {BASE: Ray("fails", running=0.5), f"{BASE}-r1": Ray("succeeds")}
    with RayOperator(api, behaviours=plans), saying(api, played, said):
        follow(api, played)
    assert jobs(api) == [BASE, f"{BASE}-r1"]


def test_waiting_for_the_judge_is_no_hang_until_its_own_deadline(api: Api, played: Played) -> None:
    patience = Patience(stall=0.5, pause=1.5, poll=0.05)
    played.beat(BASE, 7, "waiting-for-judge")
    began = time.monotonic()
    with RayOperator(api, Ray("hangs")), pytest.raises(JudgeError, match="waits for its judge"):
        follow(api, played, patience)
    assert time.monotonic() - began > 2.0
    assert jobs(api) == []
    assert "hung" not in played.output


def test_a_job_that_vanishes_is_told(api: Api, played: Played) -> None:
    with RayOperator(api, Ray("vanishes")), pytest.raises(StepError, match="deleted while it was followed"):
        follow(api, played)


def test_a_job_that_vanishes_after_publishing_was_well_done(api: Api, played: Played) -> None:
    played.publish()
    with RayOperator(api, Ray("vanishes")):
        follow(api, played)


def test_a_step_that_is_started_again_adopts_its_job(api: Api, played: Played) -> None:
    patience = Patience(stall=60, pause=60, poll=0.1)
    with RayOperator(api, Ray("hangs")) as operator, played.beating([BASE]):
        first = InThread(api, played, patience)
        wait_for(lambda: status(api) == "Running")
        uid = api.cluster().get(RAY_JOBS, BASE)["metadata"]["uid"]  # type: ignore[index]
        second = InThread(api, played, patience)
        wait_for(lambda: "is followed" in played.output)
        played.publish()
        operator.default = Ray("succeeds", running=0.0)
        first.result()
        second.result()
    assert jobs(api) == [BASE]
    assert api.cluster().get(RAY_JOBS, BASE)["metadata"]["uid"] == uid  # type: ignore[index]


def test_a_job_with_another_spec_at_work_is_left_alone(api: Api, played: Played) -> None:
    with RayOperator(api, Ray("hangs")):
        body = rayjob_of(played)
        body["metadata"]["annotations"]["gavel.dev/spec"] = "another"
        api.cluster().create(RAY_JOBS, body)
        wait_for(lambda: status(api) == "Running")
        with pytest.raises(StepError, match="another spec") as caught:
            follow(api, played)
    assert f"delete rayjob {BASE}" in caught.value.remedy
    assert jobs(api) == [BASE]


def test_a_job_with_another_spec_that_failed_is_followed_by_the_next(api: Api, played: Played) -> None:
    with RayOperator(api, behaviours={BASE: Ray("fails")}):
        body = rayjob_of(played)
        body["metadata"]["annotations"]["gavel.dev/spec"] = "another"
        api.cluster().create(RAY_JOBS, body)
        wait_for(lambda: status(api) == "Failed")
        played.publish()
        follow(api, played)
    assert jobs(api) == [BASE, f"{BASE}-r1"]


def test_a_preempted_job_waits_and_goes_on(api: Api, queued: Played) -> None:
    patience = Patience(stall=2.0, pause=60, poll=0.1)
    with RayOperator(api, Ray("hangs")) as operator, queued.beating([BASE]):
        followed = InThread(api, queued, patience)
        wait_for(lambda: "step " in queued.output)
        operator.default = Ray("queued")
        api.cluster().edit(RAY_JOBS, BASE, lambda job: {**job, "spec": {**job["spec"], "suspend": True}})
        wait_for(lambda: "preempted, waiting in queue gavel" in queued.output)
        # Longer than a running trainer may be silent.
        time.sleep(2.5)
        operator.default = Ray("succeeds")
        queued.publish()
        followed.result()
    assert jobs(api) == [BASE]


@pytest.mark.parametrize(
    "faults",
    [
        [{"pattern": "^watch", "times": 5, "drop_after": 1}],
        [{"pattern": "^watch", "times": 3, "reset": True}],
        [{"pattern": "^create .*rayjobs", "times": 1, "lost": True}],
        [{"pattern": "^create .*rayjobs", "times": 2, "status": 500}],
        [{"pattern": "^(get|list|watch)", "times": 4, "status": 429, "retry_after": 0}],
        [{"pattern": "^(get|list|watch|create)", "times": 4, "status": 503}],
        [{"pattern": "^watch", "times": 3, "status": 410}],
    ],
    ids=["dropped", "reset", "lost-answer", "500", "429", "503", "410"],
)
def test_a_stumbling_server_changes_nothing(double: Api, played: Played, faults: list[dict[str, Any]]) -> None:
    for fault in faults:
        double.faults.add(**fault)
    with RayOperator(double, Ray("succeeds", running=0.6)), played.beating([BASE]):
        played.publish()
        follow(double, played)
    assert jobs(double) == [BASE]


def rayjob_of(played: Played) -> dict[str, Any]:
    from components.rayjob.build import entrypoint, rayjob

    entry = entrypoint(played.asked.store_url, f"{PLACE}/request.json")
    return rayjob(training(played.asked.experiment), IDENTITY, entry)
