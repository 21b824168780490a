"""Compute a report's numbers again from the stored tables, sharing no code with the report, and compare.

    python tests/report/recompute.py --training DIR --scores DIR --generations DIR --report DIR

Rewards come from the verdict ledger, lengths and keywords from the texts, everything else from loops over rows. What
the report drew at random (bootstrap intervals) is drawn again with another generator and compared within a tolerance;
the gold flags are compared with a short re-implementation that reads the same word list, which agrees with the full
rules on most answers and not on all. Exit status 1 when something differs.
"""

import argparse
import csv
import json
import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from recompute_tables import Check, Row, Run, mean, rows
from recompute_texts import short_rules, split_words

Known = Mapping[str, float | None]
FLAGS = ("gold", "keyword", "echo", "length_ok")


def recompute(
    training: Path,
    scores: Path,
    generations: Path,
    report: Path,
    data: Path | None = None,
    words: Path | None = None,
) -> list[Check]:
    """Every comparison."""
    run = Run(training, scores, generations, report, data, words)
    return [
        *check_rewards(run),
        *check_heldout(run),
        *check_parts(run),
        *check_texts(run),
        *check_training(run),
        *check_parts_of_rewards(run),
        *check_correlations(run),
        *check_figures(run),
        *check_calls(run, {"training": training, "evaluation": scores}),
    ]


def check_rewards(run: Run) -> list[Check]:
    """The stored rewards against the ledger's probabilities, sample by sample."""
    checks = []
    for name, stored, ours in (
        ("held-out", {row["sample_id"]: row["judge_reward"] for row in run.scores}, run.heldout_rewards),
        ("rollout", {row["sample_id"]: row["reward"] for row in run.rollouts}, run.rollout_rewards),
    ):
        known = [sample for sample, reward in stored.items() if reward is not None and ours.get(sample) is not None]
        worst = max((abs(float(stored[sample]) - float(ours[sample] or 0.0)) for sample in known), default=0.0)
        unlike = sum((reward is None) != (ours.get(sample) is None) for sample, reward in stored.items())
        checks.append(Check(f"{name} rewards, largest difference to the ledger", worst, 0.0, 1e-6))
        checks.append(Check(f"{name} samples scored on one side and abstained on the other", unlike, 0, 0))
    return checks


def by_prompt(run: Run, model: str, measure: str) -> dict[str, list[float | None]]:
    """Row id -> values of the samples."""
    found: dict[str, list[float | None]] = defaultdict(list)
    for row in run.scores:
        if row["model"] == model:
            if measure == "judge_reward":
                value = run.heldout_rewards.get(row["sample_id"])
            elif measure == "words":
                value = float(len(split_words(run.responses[model, row["row_id"], row["sample_index"]])))
            else:
                value = None if row[measure] is None else float(row[measure])
            found[row["row_id"]].append(value)
    return found


def check_heldout(run: Run) -> list[Check]:
    """Means, differences, intervals and tests of the before/after table."""
    checks = []
    for measure in (*FLAGS, "judge_reward", "words"):
        theirs = run.summary["heldout"]["measures"][measure]
        base, trained = by_prompt(run, "base", measure), by_prompt(run, "trained", measure)
        pairs = [
            (before, after)
            for row in sorted({*base, *trained})
            if (before := mean(base[row])) is not None and (after := mean(trained[row])) is not None
        ]
        name = f"held-out {measure}"
        rose, fell = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
        exact: list[tuple[str, float | None]] = [
            ("n", len(pairs)),
            ("base", mean(a for a, _ in pairs)),
            ("trained", mean(b for _, b in pairs)),
            ("gain", mean(b - a for a, b in pairs)),
            ("dropped", len({*base, *trained}) - len(pairs)),
            ("rose", rose),
            ("fell", fell),
            ("sign_p", two_sided_binomial(rose, fell) if pairs else None),
            ("unknown_base", sum(value is None for values in base.values() for value in values)),
            ("unknown_trained", sum(value is None for values in trained.values() for value in values)),
        ]
        checks += [Check(f"{name} {key}", value, theirs[key], 1e-9) for key, value in exact]
        low, high = interval(pairs, theirs["confidence"], share=measure in FLAGS)
        # Ends of an interval over n prompts move in steps of a prompt's share; two generators may differ by one.
        step = max((abs(b - a) for a, b in pairs), default=0.0) / max(1, len(pairs))
        slack = 0.15 * (high - low) + step + 1e-9 if low is not None and high is not None else 0.0
        checks += [Check(f"{name} low", low, theirs["low"], slack), Check(f"{name} high", high, theirs["high"], slack)]
    return checks


def two_sided_binomial(rose: int, fell: int) -> float:
    """Probability, under a fair coin, of a split at least as uneven."""
    n = rose + fell
    logs = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2) for k in range(n + 1)]
    return min(1.0, sum(math.exp(logs[k]) for k in range(n + 1) if abs(2 * k - n) >= abs(rose - fell)))


def interval(
    pairs: Sequence[tuple[float, float]], confidence: float, *, share: bool
) -> tuple[float | None, float | None]:
    """Percentile bootstrap, drawn by another generator, as counts of each prompt rather than picks; of yes and no the
    score interval, by its definition on a grid; of shares that all change alike what the unseen may add."""
    n, differences = len(pairs), [b - a for a, b in pairs]
    if n < 2:
        return None, None
    if share and all(value in (0.0, 1.0) for pair in pairs for value in pair):
        return score_interval(differences.count(1.0), differences.count(-1.0), n, confidence)
    if min(differences) == max(differences):
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        unseen, change = z * z / (n + z * z), differences[0]
        return (change - unseen * (change + 1), change + unseen * (1 - change)) if share else (None, None)
    counts = np.random.RandomState(12345).multinomial(n, [1 / n] * n, size=8000)
    means = np.sort(counts @ np.asarray(differences) / n)
    tail = (1 - confidence) / 2
    return float(means[round(tail * 7999)]), float(means[round((1 - tail) * 7999)])


def score_interval(rose: int, fell: int, n: int, confidence: float) -> tuple[float, float]:
    """Differences whose score lies within the quantiles, with the likeliest share of falls to each, both on grids."""
    d = np.linspace(-1, 1, 2001)[1:-1, None]
    least = np.maximum(0.0, -d)
    falls = least + ((1 - d) / 2 - least) * np.linspace(1e-9, 1 - 1e-9, 801)[None, :]
    parts = ((rose, falls + d), (fell, falls), (n - rose - fell, 1 - 2 * falls - d))
    likelihood = sum(count * np.log(np.maximum(part, 1e-300)) for count, part in parts)
    best = np.take_along_axis(falls, np.argmax(likelihood, axis=1)[:, None], axis=1)
    score = (rose - fell - n * d) / np.sqrt(n * (2 * best + d * (1 - d)))
    inside = d[np.abs(score) <= NormalDist().inv_cdf((1 + confidence) / 2)]
    return float(inside.min()), float(inside.max())


def kind_of(row: Row) -> str:
    """What an answer is, for the parts of the judge's gain."""
    if row["echo"]:
        return "echo"
    return {True: "gold", False: "neither", None: "gold_unknown"}[row["gold"]]


def check_parts(run: Run) -> list[Check]:
    """The parts of the judge's gain, and that they add up to it."""
    rewards = run.heldout_rewards
    base = {row: mean(values) for row, values in by_prompt(run, "base", "judge_reward").items()}
    terms: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for row in run.scores:
        before, after = base.get(row["row_id"]), rewards.get(row["sample_id"])
        if row["model"] == "trained" and before is not None and after is not None:
            terms[row["row_id"]].append((kind_of(row), after - before))
    theirs = run.summary["heldout"]["judge_gain_parts"]
    checks = []
    for kind in ("gold", "echo", "neither", "gold_unknown"):
        gain = sum(
            sum(term for name, term in pairs if name == kind) / len(pairs) / len(terms) for pairs in terms.values()
        )
        samples = sum(name == kind for pairs in terms.values() for name, _ in pairs)
        checks.append(Check(f"judge's gain on {kind}", gain, theirs[kind]["gain"], 1e-9))
        checks.append(Check(f"judge's gain on {kind}, answers", samples, theirs[kind]["samples"], 0))
    whole = run.summary["heldout"]["measures"]["judge_reward"]["gain"]
    total = sum(part["gain"] for part in theirs.values()) if terms else None
    return [*checks, Check("judge's gain, sum of its parts", total, whole, 1e-9)]


def check_texts(run: Run) -> list[Check]:
    """Lengths and the make-up of gold exactly; keywords, echo and gold by short rules, which agree on most answers.

    Rows whose gold asks for more than a word list (constraints) are left out of the short rules.
    """
    lengths = composed = 0
    agree: dict[str, list[float | None]] = defaultdict(list)
    gains: dict[tuple[str, str, str], list[float | None]] = defaultdict(list)
    for row in run.scores:
        text = run.responses[row["model"], row["row_id"], row["sample_index"]]
        lengths += len(split_words(text)) != row["words"]
        composed += row["gold"] is not None and row["gold"] != (row["keyword"] and not row["echo"] and row["length_ok"])
        spec = run.gold_of(row["row_id"])
        if row["gold"] is None or spec is None:
            continue
        flags = short_rules(run.finder(spec["word_list"]), spec, run.criteria_of(row["row_id"]), text)
        for name, flag in flags.items():
            agree[name].append(float(flag == row[name]))
        gains["ours", row["model"], row["row_id"]].append(float(flags["gold"]))
        gains["stored", row["model"], row["row_id"]].append(float(row["gold"]))
    found: dict[str, float | None] = {}
    for side in ("ours", "stored"):
        rows_of = sorted({row for name, _, row in gains if name == side})
        pairs = [(mean(gains[side, "base", row]), mean(gains[side, "trained", row])) for row in rows_of]
        found[side] = mean(b - a for a, b in pairs if a is not None and b is not None)
    checks = [
        Check("answers whose length differs from the text", lengths, 0, 0),
        Check("answers whose gold is not keyword and no echo and right shape", composed, 0, 0),
        Check("gold gain by the short rules", found["ours"], found["stored"], 0.10),
    ]
    for name, tolerance in (("keyword", 0.05), ("echo", 0.10), ("gold", 0.10)):
        if agree[name]:
            share = mean(agree[name])
            checks.append(Check(f"share of answers on which the short {name} rule agrees", share, 1.0, tolerance))
    return checks


def series(run: Run) -> dict[str, dict[str, float | None]]:
    """Series -> sample id -> value, over the rollouts."""
    found: dict[str, dict[str, float | None]] = {name: {} for name in ("proxy", "gold", "keyword", "echo", "words")}
    for row in run.rollouts:
        sample, score = row["sample_id"], run.rollout_scores.get(row["sample_id"])
        found["proxy"][sample] = run.rollout_rewards.get(sample)
        found["words"][sample] = float(len(split_words(row["response"]))) if score else None
        for name in ("gold", "keyword", "echo"):
            found[name][sample] = float(score[name]) if score and score[name] is not None else None
    return found


def clustered(values: Known, rollouts: Sequence[Row]) -> tuple[int, float | None, float | None]:
    """Number, mean and cluster-robust standard error over ``rollouts``."""
    pairs = [(row["row_id"], values[row["sample_id"]]) for row in rollouts if values[row["sample_id"]] is not None]
    clusters = sorted({row_id for row_id, _ in pairs})
    centre = mean(value for _, value in pairs)
    if centre is None or len(clusters) < 2:
        return len(pairs), centre, None
    sums = np.array([sum(float(v or 0.0) - centre for r, v in pairs if r == cluster) for cluster in clusters])
    m = len(clusters)
    return len(pairs), centre, float(np.sqrt(m / (m - 1) * np.sum(sums**2)) / len(pairs))


def check_training(run: Run) -> list[Check]:
    """Every step's means and errors, and the groups that train nothing."""
    values, theirs = series(run), run.summary["training"]
    checks = [Check("rollouts", len(run.rollouts), theirs["rollouts"], 0)]
    masked = flat = 0
    for row in theirs["steps"]:
        rollouts = [other for other in run.rollouts if other["step"] == row["step"]]
        for name, found in values.items():
            n, centre, error = clustered(found, rollouts)
            stored = row["means"][name]
            for key, ours in (("n", n), ("mean", centre), ("error", error)):
                checks.append(Check(f"step {row['step']} {name} {key}", ours, stored[key], 1e-6))
        for prompt in {other["row_id"] for other in rollouts}:
            group = [values["proxy"][other["sample_id"]] for other in rollouts if other["row_id"] == prompt]
            known = {round(value, 12) for value in group if value is not None}
            scored = sum(value is not None for value in group)
            masked += scored < 2
            flat += scored >= 2 and len(known) == 1
    steps = sorted({row["step"] for row in run.rollouts})
    quarter = len(steps) // 4 or 1
    if len(steps) > 1:
        for name, found in values.items():
            ends = [
                clustered(found, [row for row in run.rollouts if row["step"] in part])[1]
                for part in (set(steps[:quarter]), set(steps[-quarter:]))
            ]
            change = ends[1] - ends[0] if ends[0] is not None and ends[1] is not None else None
            checks.append(Check(f"trend of {name}", change, theirs["trends"][name]["change"], 1e-6))
    return [
        *checks,
        Check("steps", len(steps), len(theirs["steps"]), 0),
        Check("masked groups", masked, theirs["masked_groups"], 0),
        Check("groups without variance", flat, theirs["flat_groups"], 0),
    ]


def check_parts_of_rewards(run: Run) -> list[Check]:
    """Rewards by what the prompt carried, and the factors of combine verif."""
    steps = sorted({row["step"] for row in run.rollouts})
    quarter = (len(steps) // 4 or 1) if len(steps) > 1 else 0
    when = {"total": set(steps), "first": set(steps[:quarter]), "last": set(steps[len(steps) - quarter :])}
    ours: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for row in run.rollouts:
        parts = json.loads(row["parts"])
        for end in (end for end, among in when.items() if row["step"] in among):
            if "scaffold_shown" in parts:
                name = "reward_scaffolded" if parts["scaffold_shown"] else "reward_plain"
                ours[name, end].append(row["reward"])
            for factor, lines in (("rules", "rule_lines"), ("judge", "llm_lines")):
                if parts.get(lines):
                    ours[f"factor_{factor}", end].append(parts[factor])
    theirs = run.summary["training"]["parts"]
    found = {name for name, _ in ours}
    checks = [Check("parts of the reward", len(found ^ set(theirs)), 0, 0)]
    for name in sorted(found & set(theirs)):
        checks.append(Check(f"part {name} rollouts", len(ours[name, "total"]), theirs[name]["rollouts"], 0))
        for end in when:
            checks.append(Check(f"part {name} {end}", mean(ours[name, end]), theirs[name][end]["mean"], 1e-9))
    return checks


def check_correlations(run: Run) -> list[Check]:
    """The judge's reward with gold, inside steps and inside groups."""
    values = series(run)
    checks = []
    for key, group_of in (
        ("proxy_gold_within_steps", lambda row: row["step"]),
        ("proxy_gold_within_groups", lambda row: (row["step"], row["row_id"])),
    ):
        groups: dict[Any, list[tuple[float, float]]] = defaultdict(list)
        for row in run.rollouts:
            proxy, gold = (values[name][row["sample_id"]] for name in ("proxy", "gold"))
            if proxy is not None and gold is not None:
                groups[group_of(row)].append((proxy, gold))
        centred = [np.array(pairs) - np.array(pairs).mean(axis=0) for pairs in groups.values()]
        stacked = np.vstack(centred) if centred else np.zeros((0, 2))
        varies = any((np.abs(part) > 1e-9).any(axis=0).all() for part in centred)
        r = float((stacked[:, 0] @ stacked[:, 1]) / np.sqrt((stacked**2).sum(axis=0).prod())) if varies else None
        theirs = run.summary["training"][key]
        checks += [Check(f"{key} r", r, theirs["r"], 1e-6), Check(f"{key} n", len(stacked), theirs["n"], 0)]
    return checks


def check_figures(run: Run) -> list[Check]:
    """The figures' data against the summary, and the proxy and gold series against our own."""
    checks = []
    values = series(run)
    path = run.figures / "proxy_gold_by_step.csv"
    if path.exists():
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                rollouts = [other for other in run.rollouts if other["step"] == int(row["step"])]
                for name in {"proxy", "gold"} & set(row):
                    stored = float(row[name]) if row[name] else None
                    checks.append(
                        Check(f"figure, step {row['step']} {name}", clustered(values[name], rollouts)[1], stored, 1e-6)
                    )
    with (run.figures / "heldout_levels.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            stored = run.summary["heldout"]["measures"][row["measure"]]
            for side in ("base", "trained"):
                checks.append(Check(f"figure, {row['measure']} {side}", float(row[side]), stored[side], 1e-12))
    return checks


def check_calls(run: Run, folders: Mapping[str, Path]) -> list[Check]:
    """What the judge was asked, from the tables of calls; verdicts by rules are counted apart."""
    checks = []
    for name, folder in folders.items():
        calls, theirs = rows(folder / "calls.parquet"), run.summary["judge_calls"][name]
        for key in ("attempts", "prompt_tokens", "completion_tokens", "seconds"):
            checks.append(Check(f"{name}, judge's {key}", sum(row[key] for row in calls), theirs[key], 1e-6))
        asked = sum(row["attempts"] > 0 for row in calls)
        ruled = sum(row["judge"] == "rule" for row in rows(folder / "verdicts.parquet"))
        checks.append(Check(f"{name}, calls of the judge", asked, theirs["calls"], 0))
        checks.append(Check(f"{name}, checks by rules", ruled, theirs["rule_checks"], 0))
    return checks


def main() -> int:
    """Compare and say what differs."""
    parser = argparse.ArgumentParser(description="Recompute a report's numbers from the stored tables.")
    for name in ("training", "scores", "generations", "report"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=f"folder of the {name} artifact")
    parser.add_argument("--data", type=Path, help="folder of the data artifact, where rows bring their own criteria")
    parser.add_argument("--words", type=Path, help="the gold word list; else the one that the experiment names")
    parser.add_argument("--verbose", action="store_true", help="print what agrees as well")
    arguments = parser.parse_args()
    checks = recompute(
        arguments.training,
        arguments.scores,
        arguments.generations,
        arguments.report,
        arguments.data,
        arguments.words,
    )
    wrong = [check for check in checks if not check.agrees]
    for check in checks if arguments.verbose else wrong:
        print(check)
    print(f"{len(checks) - len(wrong)} of {len(checks)} numbers agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
