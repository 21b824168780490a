"""Command line: ``python -m components.judge.server --model FOLDER --name NAME --port P``."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from components.core.errors import GavelError

# OpenMP reads these when torch is loaded. Threads that spin while they wait would steal the cores that the trainer
# on the same machine needs.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")

log = logging.getLogger("components.judge.server")


def arguments(argv: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m components.judge.server", description=__doc__)
    weights = parser.add_mutually_exclusive_group(required=True)
    weights.add_argument("--model", type=Path, help="Hugging Face model folder")
    weights.add_argument("--source", help="where the model comes from, as JSON of the specification's source")
    parser.add_argument("--name", required=True, help="name that clients ask for")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=0, help="threads that compute; 0: one a core")
    parser.add_argument("--max-batch", type=int, default=32, help="prompts of one forward pass")
    parser.add_argument("--context", type=int, default=None, help="longest prompt in tokens; default: the model's")
    parser.add_argument(
        "--prefix-mib",
        type=int,
        default=None,
        help="memory for kept prefixes; 0 turns reuse off; default: an eighth of what is free, at most 1536",
    )
    parser.add_argument("--parent", default=None, metavar="PID:START", help="end when this process is gone")
    return parser.parse_args(argv)


def prefix_room() -> int:
    """Bytes for kept prefixes: some 30,000 tokens of a model of 135 million weights, on a machine that has the room."""
    import psutil

    return min(1536 << 20, int(psutil.virtual_memory().available) // 8)


def made_ready(source: str) -> Path:
    """The folder of a model that is fetched or made first.

    Raises:
        GavelError: it cannot be had, or the text names no source.
    """
    from pydantic import TypeAdapter, ValidationError

    from components.core.services.state import state_folder
    from components.core.spec.source import ModelSource
    from components.models.materialize import cache_folder, materialize

    try:
        known: ModelSource = TypeAdapter(ModelSource).validate_json(source)
    except ValidationError as error:
        raise GavelError(f"no source of a model: {error}", where="--source", remedy="give its JSON") from error
    return materialize(known, cache_folder(state_folder()))


async def serve(options: argparse.Namespace) -> None:
    """Load the model, then serve until a signal comes or the parent is gone."""
    import torch
    from aiohttp import web

    from components.judge.server.app import build_app
    from components.judge.server.engine import Engine
    from components.judge.server.model import Model
    from components.judge.server.parent import wait_until_gone
    from components.judge.server.text import Text

    if options.threads:
        torch.set_num_threads(options.threads)
    folder = options.model or made_ready(options.source)
    room = prefix_room() if options.prefix_mib is None else options.prefix_mib << 20
    model = Model(folder, prefix_bytes=room)
    if options.context is not None:
        if options.context > model.context:
            sys.exit(f"--context {options.context} is more than the {model.context} tokens that the model reads")
        model.context = options.context
    engine = Engine(model, Text(folder), max_batch=options.max_batch)
    runner = web.AppRunner(build_app(engine, options.name), handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, options.host, options.port).start()
    log.info("serving %s at http://%s:%d (prefix reuse: %s)", options.name, options.host, options.port, model.reuse)
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    waits: list[asyncio.Future[object]] = [asyncio.ensure_future(over.wait())]
    if options.parent:
        waits.append(asyncio.ensure_future(wait_until_gone(options.parent)))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    await runner.cleanup()


def main() -> None:
    """Entry point."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s judge-server %(message)s", stream=sys.stderr)
    try:
        asyncio.run(serve(arguments(sys.argv[1:])))
    except GavelError as error:
        sys.exit(f"error: {error}")
    # The computing thread may be in the middle of a batch that nobody waits for.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
