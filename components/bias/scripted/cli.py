"""``python -m components.bias scripted --port P --bias AXIS=STRENGTH ...``: serve a scripted judge on this machine."""

import argparse
from collections.abc import Sequence

from aiohttp import web

from components.bias.scripted.axes import AXES
from components.bias.scripted.judge import STRAINED_WORDS, ScriptedJudge
from components.bias.scripted.server import MODEL, build_app
from components.core.errors import ConfigError


def main(arguments: Sequence[str]) -> int:
    """Serve until it is ended.

    Raises:
        ConfigError: an axis or a strength cannot be planted.
    """
    parser = argparse.ArgumentParser(prog="python -m components.bias scripted", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1)")
    parser.add_argument("--port", type=int, required=True, help="port to listen at")
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
        type=int,
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
    print(f"model {MODEL} at http://{given.host}:{given.port}; planted: {dict(judge.planted) or 'nothing'}", flush=True)
    web.run_app(build_app(judge), host=given.host, port=given.port, print=None)
    return 0


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
