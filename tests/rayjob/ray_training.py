"""Experiments of a cluster, and a driver that is played instead of run."""

import functools
import threading
import time
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import Elsewhere
from components.core.store import Store
from components.rayjob import messages
from components.rayjob.messages import FAILURE, HEARTBEAT, Failure, Heartbeat
from components.rayjob.pods import Training

ROOT = Path(__file__).resolve().parents[2]
JUDGE = (
    "judge={name: ruler, family: rule, serving: external, endpoint: 'http://judge.test.svc:8000', model_name: rule, "
    "context_tokens: 4096, logprobs: false, api_key_env: RULER_KEY}"
)
IDENTITY = "0123456789abcdef" * 4
PLACE = f"tiny/train-grpo/{IDENTITY}"
BASE = "tiny-01234567"


@functools.cache
def on_cluster(cluster: str = "dev", *overrides: str) -> Experiment:
    few = ["training.micro_batch=4"] if cluster == "h800" else []
    return load_experiment(
        "tiny", [f"cluster={cluster}", JUDGE, "reward={use: rubric}", *few, *overrides], ROOT / "configs"
    )


def training(experiment: Experiment, name: str = BASE) -> Training:
    return Training(experiment, name, {"ruler": "http://judge.test.svc:8000"})


class Lines:
    """A stream that keeps what is written."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


class Played:
    """A step's work on a store in a folder, whose driver the test plays."""

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.lines = Lines()
        self.store = Store.open((folder / "store").as_uri())
        self.asked = Elsewhere(
            experiment=experiment,
            store=self.store,
            store_url=self.store.url,
            inputs={"data": f"{self.store.url}/tiny/prepare-data/x/y"},
            identity=IDENTITY,
            progress=Progress("train-grpo", stream=self.lines),  # type: ignore[arg-type]
            state=folder / "state",
            place=PLACE,
        )

    @property
    def output(self) -> str:
        return self.lines.text

    def publish(self) -> None:
        """As far as the follower looks; the step looks closer."""
        self.store.write_bytes(f"{PLACE}/result.json", b"{}")

    def beat(self, attempt: str, sequence: int, state: str = "training", step: int = 1, note: str = "") -> None:
        found = Heartbeat(attempt, "s", sequence, state, step, note, time.time())  # type: ignore[arg-type]
        messages.write(self.store, PLACE, HEARTBEAT, found)

    def fail(self, failure: Failure) -> None:
        messages.write(self.store, PLACE, FAILURE, failure)

    @contextmanager
    def beating(self, attempts: Sequence[str], state: str = "training", every: float = 0.05) -> Any:
        """A driver of each attempt in turn that lives."""
        over = threading.Event()

        def work() -> None:
            number = 0
            while not over.wait(every):
                number += 1
                for attempt in attempts:
                    self.beat(attempt, number, state, step=number // 10 + 1)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
