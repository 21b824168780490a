"""``python -m components.bias probe``: probe one judge, and keep what it made of every form."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from components.bias import effects_told, least
from components.bias.arguments import at_least, make_output, names
from components.bias.mounted import Mounted
from components.bias.outcomes import write_outcomes
from components.bias.probe import named
from components.bias.run import Skipped, default_reward, plan_probes, run_probes
from components.bias.summary import summary
from components.bias.types import Mode
from components.core.errors import ConfigError
from components.core.progress import Progress
from components.core.services.state import state_folder

TABLE: Final = "outcomes.parquet"


def main(argv: Sequence[str]) -> int:
    """Say what the run can show, ask, write the table, print means and effects; 1 where the judge decided nothing.

    Raises:
        GavelError: the configuration is wrong, the judge cannot be asked, or a mounted file is not in its format.
    """
    from components.core.identity import canonical_json
    from components.core.spec.single import load_judge, load_reward
    from components.judge.answering import must_answer
    from components.judge.check_cli import at_endpoint
    from components.judge.memory import Ledger
    from components.judge.memory.shipping import LEDGER

    options = _parser().parse_args(argv)
    spec = load_judge(options.judge, options.overrides)
    reward = load_reward(options.reward) if options.reward else default_reward(spec)
    probes, mounted = named(names(options.probes)), Mounted(options.mounted)
    modes = [_mode(each) for each in names(options.modes)]
    asked = (probes, modes, options.items, options.seed, options.repeats)
    plan = plan_probes(spec, reward, *asked, mounted, options.criteria)
    for each in plan.skipped:
        print(_skipped(each))
    if not plan.parts:
        raise ConfigError(
            "nothing is left to ask",
            where=f"--probes {options.probes} --modes {options.modes}",
            remedy="name another mode or probe; what is left out, and why, stands above",
        )
    print("\n".join([*least.told(plan.parts), *least.unasked(plan.parts, mounted)]), flush=True)
    make_output(options.output)
    with at_endpoint(spec, options.endpoint) as url, Ledger(options.output / LEDGER) as ledger:
        asyncio.run(must_answer(spec, url))
        outcomes = asyncio.run(
            run_probes(
                spec,
                url,
                *asked,
                ledger,
                state_folder(),
                Progress("probe"),
                reward=reward,
                mounted=mounted,
                identity=canonical_json(spec.identity()),
                criteria=options.criteria,
            )
        )
    write_outcomes(options.output / TABLE, outcomes)
    print("\n".join(summary(outcomes)))
    print("\n".join(effects_told.told(outcomes, {probe.name: probe.measure for probe in probes})))
    print(f"{len(outcomes)} outcomes are in {options.output / TABLE}")
    return 0 if any(outcome.value is not None for outcome in outcomes) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m components.bias probe", description="Probe one judge for biases.")
    parser.add_argument("--judge", required=True, help="a name in configs/judges, or the path of a YAML file")
    parser.add_argument("--reward", help="a name in configs/rewards, for its protocol; default: rubric, or by ratio")
    parser.add_argument("--endpoint", help="base URL without /v1; default: where the judge runs here")
    parser.add_argument("--probes", default="all", help="names with commas, or all")
    parser.add_argument("--modes", default=",".join(Mode), help="pairwise, pointwise, binary; with commas")
    parser.add_argument("--items", type=at_least(1), default=200, help="items a probe and source; default 200")
    parser.add_argument("--criteria", type=at_least(2), help="criteria of each shipped text, at most; default: all")
    parser.add_argument("--repeats", type=at_least(0), default=2, help="repetitions in the probe retry, 2 at least")
    parser.add_argument("--seed", type=at_least(0), default=0, help="of what the items draw; default 0")
    parser.add_argument("--mounted", type=Path, help="folder with data sets in their own formats")
    parser.add_argument("--output", type=Path, required=True, help="folder for the table and the ledger")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="the judge's own keys")
    return parser


def _mode(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError as error:
        raise ConfigError(
            f"there is no mode {text!r}", where="--modes", remedy=f"name some of: {', '.join(Mode)}"
        ) from error


def _skipped(each: Skipped) -> str:
    return f"{each.probe:<18}{each.mode.value if each.mode else 'all modes':<10}skipped: {each.reason}"
