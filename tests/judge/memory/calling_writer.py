"""Processes that put calls to a judge over HTTP and write a ledger: ``calling_writer.py LEDGER URL IN_FLIGHT``.

For each line of standard input a new process is forked from this one, which has everything imported; its pid is
printed. It makes calls until it is killed, and records each call and a verdict for it.
"""

import asyncio
import itertools
import os
import signal
import sys
from pathlib import Path

from components.core.spec.judge import JudgeSpec
from components.judge.asker import Asker
from components.judge.build import build_transport
from components.judge.calls import Answer, Call, Message
from components.judge.memory import Entry, Ledger, about
from components.judge.profiles import profile_for
from components.judge.verdict import Criterion, Sample, Verdict, VerdictStatus


async def work(path: Path, url: str, in_flight: int) -> None:
    spec = JudgeSpec(
        name="counted",
        family="test",
        serving="external",
        endpoint=url,
        model_name="m",
        logprobs=False,
        context_tokens=2048,
        max_concurrency=64,
    )
    ledger = Ledger(path)
    transport = build_transport(spec, url)
    asker = Asker(spec, profile_for(spec, url), transport, protocol="rubric/1", ledger=ledger)
    numbers = itertools.count()

    async def ask() -> None:
        while True:
            name = f"{os.getpid()}-{next(numbers)}"
            sample = Sample("row", name, "Write.", "A cat sleeps.", (Criterion("mentions an animal"),))
            with about(sample):
                answer = await asker(Call((Message("user", f"{name}: is it met?"),), max_tokens=8))
            assert isinstance(answer, Answer), answer
            verdict = Verdict(VerdictStatus.MET, None, None, None, spec.name, "rubric/1", answer.attempts)
            ledger.add([Entry.of(sample, 0, verdict, seconds=answer.seconds, prompt_tokens=answer.usage.prompt)])

    await asyncio.gather(*(ask() for _ in range(in_flight)))


def main() -> None:
    path, url, in_flight = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asyncio.run(work(path, url, in_flight))
            os._exit(1)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
