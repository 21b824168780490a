"""CPU time that a call to a chat judge costs its caller: our whole path beside plain clients.

``PYTHONPATH=. python tests/bench/judge_transport.py [--calls 6000] [--rounds 3] [--flight 64 256 1024] [--only NAME]``

Prompts of 3 KB, each another one, to a scripted server in a process of its own that answers after 20 ms. Each client
runs in a fresh process; what is printed are milliseconds of CPU time of that process for one call (user and system,
background threads and closing included, start and a first thousand calls not), the least of the rounds. CPU time
is the figure to compare on a machine that others use. No test runs this.

``ours, all on``: profile, single flight, cache, budget, price, ledger, buckets of requests and of tokens, limiter,
breaker, permits and rates shared by processes, deadlines. ``ours, transport``: limiter, breaker and deadlines, no more.

Seen on two quiet cores, milliseconds a call (ratio to bare aiohttp) at 64, 256 and 1,024 in flight: aiohttp and orjson
0.42, 0.47, 0.58; ours, transport 0.41 (1.0), 0.47 (1.0), 0.55 (1.0); ours, all on 0.77 (1.8), 0.87 (1.8), 1.07 (1.9).
On another day, under a load of 6 to 10: 0.34, 0.35, 0.40; 0.43 (1.2), 0.34 (1.0), 0.53 (1.3); 0.68 (2.0), 0.61 (1.8),
0.79 (2.0). Before a lookup of what is not cached went without a statement, and an
answer without copies, all on took 0.74 (2.9), 0.64 (1.9), 0.75 (1.9) under a load of 3. Earlier: requests in threads
2.3 (6.1), 2.5 (6.7), 2.6 (7.0); openai 3.57 with a semaphore 22, 24 and 68 times bare aiohttp, litellm with a semaphore
32, 28 and 28 times.
"""

import argparse
import asyncio
import concurrent.futures
import importlib
import importlib.util
import itertools
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

WARM = 1000
SENTENCE = "The old cat stood beside the farmer near the harbour while the lights of the town went out. "
CLIENTS = {
    "ours, all on": "aiohttp",
    "ours, transport": "aiohttp",
    "aiohttp and orjson": "aiohttp",
    "openai, semaphore": "openai",
    "litellm, semaphore": "litellm",
    "requests, threads": "requests",
}
"""Name and the package that it needs."""
BASE = "aiohttp and orjson"
"""What the others are compared with."""


def prompt(number: int) -> str:
    return f"{number}: {SENTENCE * 33}"[:3072]


def plain_body(number: int) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": prompt(number)}], "max_tokens": 64}


async def drive(call: Callable[[int], Awaitable[object]], count: int, flight: int, first: int) -> None:
    numbers = iter(range(first, first + count))

    async def work() -> None:
        for number in numbers:
            await call(number)

    await asyncio.gather(*(work() for _ in range(flight)))


async def timed(
    call: Callable[[int], Awaitable[object]], end: Callable[[], Awaitable[object]], count: int, flight: int
) -> float:
    await drive(call, max(WARM, flight), flight, 0)
    begun = time.process_time()
    await drive(call, count, flight, 1_000_000)
    await end()
    return (time.process_time() - begun) / count


async def ours(url: str, count: int, flight: int) -> float:
    from components.core.spec.judge import JudgeSpec
    from components.judge.asker import Asker
    from components.judge.build import build_budget, build_transport
    from components.judge.calls import Answer, Call, Message
    from components.judge.memory import Cache, Ledger
    from components.judge.profiles import profile_for

    spec = JudgeSpec.model_validate(
        {
            "name": "bench",
            "family": "bench",
            "serving": "external",
            "endpoint": url,
            "model_name": "m",
            "context_tokens": 4096,
            "logprobs": False,
            "profile": "vllm",
            "max_concurrency": flight,
            "limits": {"requests_per_minute": 3e6, "tokens_per_minute": 6e9, "sample_deadline_seconds": 600},
            "budget": {"calls": 10**9, "tokens": 10**12, "cost": 1e9},
            "price": {"prompt": 1.0, "completion": 2.0},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        ledger, cache = Ledger(Path(folder, "ledger.sqlite")), Cache(Path(folder, "replies.sqlite"))
        transport = build_transport(spec, url, Path(folder, "permits"))
        budget = build_budget(spec, ledger)
        profile = profile_for(spec, url)
        asker = Asker(spec, profile, transport, protocol="rubric/1", cache=cache, ledger=ledger, budget=budget)

        async def call(number: int) -> None:
            answer = await asker(Call((Message("user", prompt(number)),), max_tokens=64))
            assert isinstance(answer, Answer), answer

        async def end() -> None:
            await transport.close()
            cache.close()
            ledger.close()

        return await timed(call, end, count, flight)


async def transport_alone(url: str, count: int, flight: int) -> float:
    from components.judge.transport import Limits, Reply, Transport

    transport = Transport([url], timeout=60.0, attempts=3, limits=Limits(concurrency=flight))

    async def call(number: int) -> None:
        got = await transport.post("/v1/chat/completions", plain_body(number))
        assert isinstance(got, Reply), got

    return await timed(call, transport.close, count, flight)


async def bare(url: str, count: int, flight: int) -> float:
    import aiohttp
    import orjson

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    headers = {"Content-Type": "application/json"}
    permits = asyncio.Semaphore(flight)

    async def call(number: int) -> None:
        async with permits:
            body = orjson.dumps(plain_body(number))
            async with session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as response:
                data = orjson.loads(await response.read())
        assert data["choices"][0]["message"]["content"]

    return await timed(call, session.close, count, flight)


async def by_openai(url: str, count: int, flight: int) -> float:
    httpx, openai = importlib.import_module("httpx"), importlib.import_module("openai")
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=flight)
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", http_client=httpx.AsyncClient(limits=limits))
    permits = asyncio.Semaphore(flight)

    async def call(number: int) -> None:
        async with permits:
            got = await client.chat.completions.create(**plain_body(number))
        assert got.choices[0].message.content

    return await timed(call, client.close, count, flight)


async def by_litellm(url: str, count: int, flight: int) -> float:
    litellm = importlib.import_module("litellm")
    permits = asyncio.Semaphore(flight)

    async def call(number: int) -> None:
        body = {**plain_body(number), "model": "openai/m"}
        async with permits:
            got = await litellm.acompletion(**body, api_base=f"{url}/v1", api_key="none")
        assert got.choices[0].message.content

    async def end() -> None:
        return

    return await timed(call, end, count, flight)


def by_requests(url: str, count: int, flight: int) -> float:
    requests = importlib.import_module("requests")
    here = threading.local()

    def call(number: int) -> None:
        if not hasattr(here, "session"):
            here.session = requests.Session()
        data = here.session.post(f"{url}/v1/chat/completions", json=plain_body(number), timeout=60).json()
        assert data["choices"][0]["message"]["content"]

    with concurrent.futures.ThreadPoolExecutor(flight) as pool:
        list(pool.map(call, range(max(WARM, 2 * flight))))
        begun = time.process_time()
        list(pool.map(call, range(1_000_000, 1_000_000 + count)))
        return (time.process_time() - begun) / count


def client(name: str, url: str, count: int, flight: int) -> float:
    if name == "requests, threads":
        return by_requests(url, count, flight)
    run = {
        "ours, all on": ours,
        "ours, transport": transport_alone,
        "aiohttp and orjson": bare,
        "openai, semaphore": by_openai,
        "litellm, semaphore": by_litellm,
    }[name]
    return asyncio.run(run(url, count, flight))


def measured(name: str, url: str, count: int, flight: int) -> float:
    command = [sys.executable, __file__, "--calls", str(count), "--flight", str(flight), "--client", name, "--url", url]
    return float(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1]))


def compare(names: list[str], flights: list[int], count: int, rounds: int) -> None:
    """Rounds over all clients, so that what else the machine does falls upon all of them."""
    present = [name for name in names if importlib.util.find_spec(CLIENTS[name]) is not None]
    for name in names:
        if name not in present:
            print(f"{name}: skipped, {CLIENTS[name]} is not installed", flush=True)
    script = Path(__file__).with_name("judge_transport_server.py")
    server = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    least: dict[tuple[str, int], float] = {}
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        for _ in range(rounds):
            for name, flight in itertools.product(present, flights):
                seconds = measured(name, url, count, flight)
                least[name, flight] = min(seconds, least.get((name, flight), seconds))
    finally:
        server.kill()
        server.wait()
    print(f"{'CPU ms a call (ratio)':22}" + "".join(f"{flight:>15}" for flight in flights) + "  in flight")
    for name in present:
        print(f"{name:22}", end="")
        for flight in flights:
            base = least.get((BASE, flight))
            ratio = "" if base is None else f"({least[name, flight] / base:.1f})"
            print(f"{1000 * least[name, flight]:9.3f} {ratio:>5}", end="")
        print()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flight", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--only", action="append", choices=CLIENTS)
    parser.add_argument("--client", choices=CLIENTS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        print(json.dumps(client(options.client, options.url, options.calls, options.flight[0])))
    else:
        compare(options.only or list(CLIENTS), options.flight, options.calls, options.rounds)


if __name__ == "__main__":
    main()
