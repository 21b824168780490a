"""The step as a whole, on a run whose numbers are known."""

import json

from components.report.step import STEP


def test_it_writes_what_it_promises(make_context, world):
    context = make_context(world)
    STEP.run(context)
    names = {path.relative_to(context.out).as_posix() for path in context.out.rglob("*") if path.is_file()}
    assert names == {
        "report.html",
        "summary.json",
        "figures/heldout_levels.csv",
        "figures/heldout_gains.csv",
        "figures/judge_gain_parts.csv",
        "figures/proxy_gold_by_step.csv",
        "figures/echo_length_by_step.csv",
        "figures/step_times.csv",
    }
