"""A judge that is away for a while leaves no outcomes that count for good; what it said is kept."""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from components.bias.outcomes import read_outcomes
from components.core.errors import JudgeError, StepError
from components.core.spec.study_load import Study, load_study
from components.core.store import Store
from components.probe_bias.probing import is_probed, probe
from components.study.records import read_record
from components.study.scoring import probed_identity

_STUDY = """
name: outages
experiment: {{use: tiny, training: {{steps: 2}}}}
judges:
  - judge:
      name: far
      family: none
      serving: external
      endpoint: {url}
      profile: generic
      model_name: far
      context_tokens: 16384
      logprobs: false
      timeout_seconds: 2
      attempts: 1
      max_concurrency: 2
      {more}
    rewards: [{{use: rubric, max_abstain_rate: 0.2}}]
seeds: [1]
controls: []
probes: {{names: [verbosity], modes: [binary], items: 10}}
drift: null
cross: false
"""


class Judge:
    """Calls every criterion met; ``status`` tells the HTTP status of the n-th call, counted from 1."""

    def __init__(self, status: Callable[[int], int] = lambda call: 200) -> None:
        self.status = status
        self.calls = 0
        self.good = 0

    def answer(self, prompt: str) -> tuple[int, bytes]:
        self.calls += 1
        status = self.status(self.calls)
        if status != 200:
            return status, b'{"error": {"message": "as told"}}'
        self.good += 1
        verdicts = dict.fromkeys(re.findall(r"^(c\d+): ", prompt, re.MULTILINE), "met")
        message = {"role": "assistant", "content": json.dumps(verdicts)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return 200, json.dumps({"object": "chat.completion", "choices": [choice]}).encode()

    @contextlib.contextmanager
    def serve(self) -> Iterator[str]:
        """Serve on a free port; gives the base URL."""
        judge, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    status, data = judge.answer(body["messages"][-1]["content"])
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))


def study_of(url: str, more: str = "") -> Study:
    return load_study(_STUDY.format(url=url, more=more))


def outcomes_of(study: Study, store: str) -> list[object]:
    scorer = study.scorers[0]
    record = read_record(store, study.spec.name, "probes", scorer.name, probed_identity(study, scorer))
    assert record is not None
    path = record.results["outcomes"].uri.removeprefix(Store.open(store).url).strip("/")
    return [*read_outcomes(Path(Store.open(store).url.removeprefix("file://")) / path / "outcomes.parquet")]


def test_a_judge_that_goes_away_in_the_middle_is_told_and_asked_again_for_the_rest_alone(tmp_path: Path) -> None:
    store = (tmp_path / "store").as_uri()
    # 10 items in 4 forms are 40 judgements, of which 8 may be missing.
    judge = Judge(lambda call: 200 if call <= 25 else 401)
    with judge.serve() as url:
        study = study_of(url)
        with pytest.raises(StepError, match=r"9 of the 40 judgements of probe verbosity \(binary\).*rejected 9"):
            probe(study, study.scorers[0], store)
        assert not is_probed(study, study.scorers[0], store)
        said = judge.good
        judge.status = lambda call: 200
        probe(study, study.scorers[0], store)
    assert judge.good == 40
    assert said > 0
    found = outcomes_of(study, store)
    assert len(found) == 40
    assert all(each.value == 1.0 for each in found)  # type: ignore[attr-defined]


def test_few_that_nobody_answered_stay_unknown_and_are_counted(tmp_path: Path) -> None:
    store = (tmp_path / "store").as_uri()
    with Judge(lambda call: 401 if call % 5 == 0 else 200).serve() as url:
        study = study_of(url)
        probe(study, study.scorers[0], store)
    found = outcomes_of(study, store)
    assert sum(each.reason == "rejected" for each in found) == 8  # type: ignore[attr-defined]


def test_a_budget_that_is_used_up_is_told_however_little_is_missing(tmp_path: Path) -> None:
    store = (tmp_path / "store").as_uri()
    with Judge().serve() as url:
        study = study_of(url, "budget: {calls: 39}")
        with pytest.raises(JudgeError, match=r"budget\.calls|reached its budget"):
            probe(study, study.scorers[0], store)
