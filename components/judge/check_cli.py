"""``python -m components.judge check``: a newcomer's first step with a new judge."""

import argparse
import asyncio
from collections.abc import Sequence

from components.core.services.state import state_folder


def main(argv: Sequence[str]) -> int:
    """Print what an endpoint can do; returns 1 when the judge cannot be used as it is configured.

    Raises:
        GavelError: the configuration is wrong, the key is not set, or the judge is not deployed.
    """
    from components.core.spec.single import load_judge
    from components.judge.build import api_keys
    from components.judge.check import check
    from components.judge.endpoint import resolve_endpoint

    parser = argparse.ArgumentParser(
        prog="python -m components.judge check",
        description="Send five calls to a judge's endpoint; say how fast it is, and whether log-probabilities, "
        "JSON schema and streaming work.",
    )
    parser.add_argument("--judge", required=True, help="a name in configs/judges, or the path of a YAML file")
    parser.add_argument("--endpoint", help="base URL without /v1; default: where the judge was deployed")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="the judge's own keys, as in stream=always")
    options = parser.parse_args(argv)
    spec = load_judge(options.judge, options.overrides)
    endpoint = options.endpoint or resolve_endpoint(spec, state_folder())
    print(f"judge {spec.name}: {spec.model_name} at {endpoint}")
    found = asyncio.run(check(spec, endpoint, next(iter(api_keys(spec)), None)))
    width = max(len(finding.name) for finding in found)
    for finding in found:
        print("\n".join(finding.lines(width)))
    return int(any(finding.needed and finding.works is False for finding in found))
