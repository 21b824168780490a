"""``python -m components.bias list``: the probes, and what there is for them."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from components.bias.items import items_of
from components.bias.mounted import Mounted
from components.bias.probe import Request, Skip, all_probes

_MANY = 1 << 20


def main(argv: Sequence[str]) -> int:
    """Print a line a probe.

    Raises:
        GavelError: the mounted folder has no file that can be read, one is not in its format, or a probe breaks its
            limits.
    """
    parser = argparse.ArgumentParser(prog="python -m components.bias list", description="List the probes.")
    parser.add_argument("--mounted", type=Path, help="folder with data sets in their own formats")
    parser.add_argument("--judge-model", help="the judge's model name, for self-preference")
    parser.add_argument("--judge-family", help="the judge's family, for family preference")
    options = parser.parse_args(argv)
    Mounted(options.mounted).check()
    request = Request(0, Mounted(options.mounted), options.judge_model, options.judge_family)
    for name, probe in all_probes().items():
        items = items_of(probe, request, _MANY)
        if isinstance(items, Skip):
            there = f"skipped: {items.reason}"
        else:
            sources = sorted({item.source for item in items})
            there = f"{len(items)} items of {len({item.text_id for item in items})} texts ({', '.join(sources)})"
        print(f"{name:<18}{probe.title}")
        print(f"{'':<18}{probe.measure.value}; {', '.join(mode.value for mode in probe.modes)}; {there}")
    return 0
