"""A process that calls a judge under shared permits: ``leasing_caller.py URL LEASES PERMITS CALLS FIRST_NUMBER``.

Says ``ready`` when everything is imported, begins when a line comes, and prints how many calls were answered right.
"""

import asyncio
import sys
from pathlib import Path

from components.judge.transport import Limits, Reply, Transport


async def main(url: str, leases: Path, permits: int, count: int, first: int) -> None:
    transport = Transport([url], timeout=60.0, attempts=3, limits=Limits(concurrency=permits), leases=leases)

    async def call(number: int) -> bool:
        got = await transport.post("/v1", {"number": number})
        return isinstance(got, Reply) and got.data == {"number": number}

    right = await asyncio.gather(*(call(number) for number in range(first, first + count)))
    await transport.close()
    print(sum(right), flush=True)


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), *(int(value) for value in sys.argv[3:6])))
