"""Rewards of a training run worked out once more from its published tables, with nothing of the project.

    python tests/reward/recompute_rewards.py TRAIN-GRPO-FOLDER TRAIN.PARQUET --combine verif --value binary

TRAIN-GRPO-FOLDER has rollouts.parquet and verdicts.parquet; TRAIN.PARQUET is prepare-data's. Prints every rollout whose
reward differs, and ends with 1 if there is one.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import pyarrow.parquet as pq


def rubric(lines, least, clip):
    """``lines``: (points, p or None). max(0, sum of points x p / positive points), over what is known."""
    positive = sum(points for points, _ in lines if points > 0)
    known = [(points, p) for points, p in lines if p is not None]
    weight = sum(points for points, _ in known if points > 0)
    hidden = any(points < 0 and p is None for points, p in lines)
    if hidden or weight <= 0 or weight / positive < least - 1e-9:
        return None
    ratio = sum(points * p for points, p in known) / weight
    return max(0.0, ratio) if clip else ratio


def verif(rules, judged, least):
    """Mean of the rules that are known (1 without any rule) x the judge's mean (1 without a line for the judge)."""
    known = [p for _, p in rules if p is not None]
    if rules and (not known or len(known) / len(rules) < least - 1e-9):
        return None
    soft = rubric(judged, least, True) if judged else 1.0
    return None if soft is None else (sum(known) / len(known) if rules else 1.0) * soft


def recompute(training, prompts, *, combine="rubric", value="binary", least=0.8, clip=True, judge=None):
    """(sample id, published reward, reward worked out) of every rollout; None stands for an abstained one."""
    lines = {
        row["extra_info"]["id"]: json.loads(row["extra_info"]["rubric"]) for row in pq.read_table(prompts).to_pylist()
    }
    given, judges = {}, set()
    for row in pq.read_table(Path(training) / "verdicts.parquet").to_pylist():
        if row["judge"] == "rule" or judge in (None, row["judge"]):
            judges |= {row["judge"]} - {"rule"}
            # Rows stand in the order of writing: a sample that was judged again has the later one.
            given[row["sample_id"], row["criterion_index"]] = row
    if len(judges) > 1:
        raise SystemExit(f"several judges, {sorted(judges)}: name the one that decides by --judge (the panel's name)")
    found = []
    for rollout in pq.read_table(Path(training) / "rollouts.parquet").to_pylist():
        parts = {"llm": [], "rule": []}
        for index, line in enumerate(lines[rollout["row_id"]]):
            verdict = given.get((rollout["sample_id"], index), {"status": "unknown"})
            if verdict["status"] != "unknown" and (verdict["judge"] == "rule") != (line["verifier"] == "rule"):
                raise SystemExit(f"sample {rollout['sample_id']}, line {index}: decided by {verdict['judge']}")
            if verdict["status"] == "unknown":
                p = None
            else:
                p = float(verdict["status"] == "met") if value == "binary" else verdict["probability"]
            parts[line["verifier"]].append((line["points"], p))
        both = parts["llm"] + parts["rule"]
        mine = verif(parts["rule"], parts["llm"], least) if combine == "verif" else rubric(both, least, clip)
        found.append((rollout["sample_id"], rollout["reward"], mine))
    return found


def differ(published, mine):
    """Whether two rewards are not the same, None being the same as None alone."""
    if published is None or mine is None:
        return published is not mine
    return not math.isclose(published, mine, rel_tol=1e-9, abs_tol=1e-9)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("training")
    parser.add_argument("prompts")
    parser.add_argument("--combine", choices=("rubric", "verif"), default="rubric")
    parser.add_argument("--value", choices=("binary", "probability"), default="binary")
    parser.add_argument("--min-known-weight", type=float, default=0.8)
    parser.add_argument("--unclipped", action="store_true")
    parser.add_argument("--judge", help="whose verdicts count, where several judges or a panel have some")
    options = parser.parse_args(arguments)
    found = recompute(
        options.training,
        options.prompts,
        combine=options.combine,
        value=options.value,
        least=options.min_known_weight,
        clip=not options.unclipped,
        judge=options.judge,
    )
    wrong = [each for each in found if differ(each[1], each[2])]
    for sample_id, published, mine in wrong:
        shown = ["none" if reward is None else f"{reward:.9g}" for reward in (published, mine)]
        print(f"{sample_id}: published {shown[0]}, worked out {shown[1]}")
    scored = sum(mine is not None for _, _, mine in found)
    print(f"{len(found)} rollouts, {scored} scored, {len(found) - scored} abstained, {len(wrong)} differ")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
