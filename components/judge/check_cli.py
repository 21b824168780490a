"""``python -m components.judge check``: a newcomer's first step with a new judge."""

import argparse
import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.core.services.state import state_folder

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


def main(argv: Sequence[str]) -> int:
    """Print what an endpoint can do; returns 1 when the judge cannot be used as it is configured.

    Raises:
        GavelError: the configuration is wrong, the key is not set, or the judge is not deployed.
    """
    from components.core.spec.single import load_judge
    from components.judge.build import api_keys
    from components.judge.check import check
    from components.judge.memory import Ledger
    from components.judge.memory.shipping import LEDGER

    parser = argparse.ArgumentParser(
        prog="python -m components.judge check",
        description="Send five calls to a judge's endpoint; say how fast it is, and whether log-probabilities, "
        "JSON schema and streaming work.",
    )
    parser.add_argument("--judge", required=True, help="a name in configs/judges, or the path of a YAML file")
    parser.add_argument("--endpoint", help="base URL without /v1; default: where the judge runs here")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="the judge's own keys, as in stream=always")
    options = parser.parse_args(argv)
    overrides, endpoint = list(options.overrides), options.endpoint
    named = [each.removeprefix("serving=") for each in overrides if each.startswith("serving=")]
    if (named[-1] if named else load_judge(options.judge).serving) != "external":
        # A judge that is served here has no endpoint of its own; the one that is named is where to look for it.
        given = [each for each in overrides if each.startswith("endpoint=")]
        overrides = [each for each in overrides if each not in given]
        endpoint = given[-1].removeprefix("endpoint=") if given and endpoint is None else endpoint
    spec = load_judge(options.judge, overrides)
    with at_endpoint(spec, endpoint) as url:
        print(f"judge {spec.name}: {spec.model_name} at {url}", flush=True)
        with Ledger(state_folder() / "checks" / LEDGER) as ledger:
            found = asyncio.run(check(spec, url, next(iter(api_keys(spec)), None), ledger))
    width = max(len(finding.name) for finding in found)
    for finding in found:
        print("\n".join(finding.lines(width)))
    print(f"the calls are in {ledger.path}")
    return int(any(finding.needed and finding.works is False for finding in found))


@contextlib.contextmanager
def at_endpoint(spec: "JudgeSpec", endpoint: str | None) -> Iterator[str]:
    """Where a judge answers; the embedded server is started for as long as it is needed where none runs."""
    from components.judge.endpoint import resolve_endpoint
    from components.judge.serve import serving

    if endpoint is not None:
        yield endpoint.rstrip("/")
        return
    try:
        url = resolve_endpoint(spec, state_folder())
    except JudgeError as error:
        if spec.serving != "embedded":
            raise JudgeError(
                error.what,
                where=error.where,
                remedy=f"start it in another shell with `make judge JUDGE={spec.name}`, or name where it runs with "
                f'`make check-judge JUDGE={spec.name} SET="endpoint=URL"`',
            ) from error
    else:
        yield url
        return
    print(f"judge {spec.name} does not run here: its server is started for this check", flush=True)
    with serving(spec) as url:
        yield url
