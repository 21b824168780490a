"""``python -m components.bias scripted``: a judge with planted biases, over HTTP."""

import argparse
from collections.abc import Sequence
from typing import Final

from aiohttp import web

from components.bias.arguments import at_least
from components.bias.scripted.axes import AXES
from components.bias.scripted.judge import STRAINED_WORDS, ScriptedJudge
from components.bias.scripted.server import MODEL, build_app
from components.core.errors import ConfigError

_LAST_PORT: Final = 65535


def main(arguments: Sequence[str]) -> int:
    """Serve until it is ended.

    Raises:
        ConfigError: an axis or a strength cannot be planted, or nobody can listen at that address.
    """
    parser = argparse.ArgumentParser(
        prog="python -m components.bias scripted",
        description="Serve a judge that prefers by rules what it is told to prefer, as chat completions, until ctrl-C.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1)")
    parser.add_argument("--port", type=_port, required=True, help="port to listen at")
    parser.add_argument(
        "--bias",
        action="append",
        default=[],
        metavar="AXIS=STRENGTH",
        help=f"plant a bias; repeat for several. Axes: {', '.join(sorted(AXES))}",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the judge's draws (default 0)")
    parser.add_argument(
        "--quality", type=float, default=0.4, help="score of any response that says something (default 0.4)"
    )
    parser.add_argument("--sight", type=float, default=0.0, help="what words of reference or criteria add (default 0)")
    parser.add_argument("--noise", type=float, default=0.1, help="half width of a response's noise (default 0.1)")
    parser.add_argument("--text-noise", type=float, default=0.1, help="how much strength differs by text (default 0.1)")
    parser.add_argument(
        "--strained-words",
        type=at_least(1),
        default=STRAINED_WORDS,
        help=f"longest response that does not strain it, for the axis failure (default {STRAINED_WORDS})",
    )
    given = parser.parse_args(arguments)
    judge = ScriptedJudge(
        dict(_planted(text) for text in given.bias),
        seed=given.seed,
        quality=given.quality,
        sight=given.sight,
        text_noise=given.text_noise,
        noise=given.noise,
        strained_words=given.strained_words,
    )
    told = f"model {MODEL} at http://{given.host}:{given.port}; planted: {dict(judge.planted) or 'nothing'}"
    try:
        # Called once it listens.
        web.run_app(build_app(judge), host=given.host, port=given.port, print=lambda _: print(told, flush=True))
    except OSError as error:
        raise ConfigError(
            f"nobody can listen there: {error.strerror or error}",
            where=f"--host {given.host} --port {given.port}",
            remedy="name another port, or end what listens at this one",
        ) from error
    return 0


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 1 to {_LAST_PORT}")
    return int(text)


def _planted(text: str) -> tuple[str, float]:
    axis, separator, strength = text.partition("=")
    try:
        return axis.strip(), float(strength)
    except ValueError as error:
        raise ConfigError(
            f"--bias {text!r} is not AXIS=STRENGTH" if not separator else f"strength {strength!r} is no number",
            where="scripted judge",
            remedy="write, say, --bias verbosity=0.2",
        ) from error
