"""Compute a report's numbers again from the stored tables, sharing no code with the report, and compare.

    python tests/report/recompute.py --training DIR --scores DIR --generations DIR --report DIR

Rewards come from the verdict ledger, lengths and keywords from the texts, everything else from loops over rows. What
the report drew at random (bootstrap intervals) is drawn again with another generator and compared within a tolerance;
the gold flags are compared with a short re-implementation that reads the same word list, which agrees with the full
rules on most answers and not on all. Exit status 1 when something differs.
"""

import argparse
import csv
import dataclasses
import json
import math
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

Row = dict[str, Any]
Known = Mapping[str, float | None]
WORDS_FOLDER = Path(__file__).resolve().parents[2] / "components" / "score" / "words"
FLAGS = ("gold", "keyword", "echo", "length_ok")


@dataclasses.dataclass(frozen=True)
class Check:
    """One number: ours, the report's, and how far they may be apart."""

    name: str
    ours: float | None
    theirs: float | None
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Both unknown, or both known and close."""
        if self.ours is None or self.theirs is None:
            return self.ours is None and self.theirs is None
        return abs(self.ours - self.theirs) <= self.tolerance

    def __str__(self) -> str:
        mark = "agrees " if self.agrees else "DIFFERS"
        return f"{mark} {self.name}: recomputed {self.ours}, report {self.theirs} (tolerance {self.tolerance:g})"


class Run:
    """The stored tables of a run, and what they say about each sample."""

    def __init__(
        self, training: Path, scores: Path, generations: Path, report: Path, data: Path | None, words: Path | None
    ) -> None:
        self.summary: Row = json.loads((report / "summary.json").read_text(encoding="utf-8"))
        self.figures = report / "figures"
        self.spec: Row = self.summary["experiment"]
        self.own_gold: dict[str, Row] = {}
        self.points = self._points(data)
        self.words_file = words
        self._finders: dict[str, Callable[[str], bool]] = {}
        self.scores = rows(scores / "scores.parquet")
        self.rollout_scores = {row["sample_id"]: row for row in rows(scores / "rollout_scores.parquet")}
        rollouts = rows(training / "rollouts.parquet")
        last: dict[int, int] = defaultdict(int)
        for row in rollouts:
            last[row["step"]] = max(last[row["step"]], row["attempt"])
        self.rollouts = [row for row in rollouts if row["attempt"] == last[row["step"]]]
        self.heldout_rewards = self.rewards(scores / "verdicts.parquet")
        self.rollout_rewards = self.rewards(training / "verdicts.parquet")
        self.responses = {
            (row["model"], row["row_id"], index): text
            for row in rows(generations / "generations.parquet")
            for index, text in enumerate(row["responses"])
        }

    def _points(self, data: Path | None) -> dict[tuple[str, str], float]:
        """(row id, criterion) -> points; row id ``*`` for those that the experiment gives every row."""
        points = {("*", line["text"]): float(line["points"]) for line in self.spec["data"]["criteria"]}
        for split in ("train", "heldout") if data else ():
            assert data is not None
            for row in rows(data / f"{split}.parquet"):
                self.own_gold[row["extra_info"]["id"]] = json.loads(row["reward_model"]["ground_truth"])
                for line in json.loads(row["extra_info"]["rubric"]):
                    points[row["extra_info"]["id"], line["text"]] = float(line["points"])
        return points

    def gold_of(self, row_id: str) -> Row | None:
        """The row's gold checks; None when they are more than a word list, a length and no echo."""
        spec: Row = self.own_gold.get(row_id, self.spec["data"]["gold"])
        return None if spec.get("constraints") or not spec.get("word_list") else spec

    def criteria_of(self, row_id: str) -> list[str]:
        """Texts of the row's criteria with positive points."""
        own = [text for (row, text), points in self.points.items() if row == row_id and points > 0]
        return own or [text for (row, text), points in self.points.items() if row == "*" and points > 0]

    def finder(self, word_list: str) -> Callable[[str], bool]:
        """Whether a text has a word of the list."""
        if word_list not in self._finders:
            self._finders[word_list] = keyword_finder(self.words_file or WORDS_FOLDER / f"{word_list}.txt")
        return self._finders[word_list]

    def rewards(self, ledger: Path) -> dict[str, float | None]:
        """Sample id -> clipped, points-weighted mean over its known criteria.

        None when too little of the positive points is known, or a penalty is not.
        """
        latest: dict[tuple[str, int], Row] = {}
        for row in sorted(rows(ledger), key=lambda row: row["time"]):
            latest[row["sample_id"], row["criterion_index"]] = row
        samples: dict[str, list[Row]] = defaultdict(list)
        for (sample_id, _), row in latest.items():
            samples[sample_id].append(row)
        binary = self.spec["reward"]["value"] == "binary"
        rewards: dict[str, float | None] = {}
        for sample_id, verdicts in samples.items():
            gained = positive = known = 0.0
            blind = False
            for row in verdicts:
                text = row["criterion"]
                weight = self.points.get((row["row_id"], text), self.points.get(("*", text), 1.0))
                positive += max(weight, 0.0)
                if row["status"] == "unknown":
                    blind = blind or weight < 0
                    continue
                known += max(weight, 0.0)
                gained += weight * (float(row["status"] == "met") if binary else row["probability"])
            enough = known > 0 and known >= self.spec["reward"]["min_known_weight"] * positive - 1e-9
            rewards[sample_id] = min(1.0, max(0.0, gained / known)) if enough and not blind else None
        return rewards


def rows(path: Path) -> list[Row]:
    """A parquet file as dictionaries."""
    found: list[Row] = pq.read_table(path).to_pylist()
    return found


def mean(values: Iterable[float | None]) -> float | None:
    """Of the known values."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


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
        *check_correlations(run),
        *check_figures(run),
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
        low, high = interval([b - a for a, b in pairs], theirs["confidence"])
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


def interval(differences: Sequence[float], confidence: float) -> tuple[float | None, float | None]:
    """Percentile bootstrap, drawn by another generator, as counts of each prompt rather than picks."""
    n = len(differences)
    if n < 2:
        return None, None
    counts = np.random.RandomState(12345).multinomial(n, [1 / n] * n, size=8000)
    means = np.sort(counts @ np.asarray(differences) / n)
    tail = (1 - confidence) / 2
    return float(means[round(tail * 7999)]), float(means[round((1 - tail) * 7999)])


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


def split_words(text: str) -> list[str]:
    """Runs of letters and digits, an apostrophe inside belonging to them."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2018", "'")
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())


def keyword_finder(path: Path) -> Callable[[str], bool]:
    """A short reading of the word list: ``!`` words count after a determiner, ``-`` phrases are no hits."""
    forms: dict[str, bool] = {}
    excluded = []
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip().lower()
        if not line or line.startswith("#"):
            continue
        if line.startswith("-"):
            excluded.append(line[1:].strip())
            continue
        word, _, plurals = line.lstrip("!").partition("/")
        ending = "es" if re.search(r"(s|x|z|ch|sh)$", word.strip()) else "s"
        plain = re.sub(r"([^aeiou])y$", r"\1ie", word.strip()) + ending
        for form in (word, *(plurals.split(",") if plurals else [plain])):
            forms[form.strip()] = line.startswith("!")
    before = (
        r"(?:\b(?:an?|the|this|that|these|those|my|your|his|her|its|our|their|one|two|three|some|many)\s+(?:\w+\s+)?)"
    )

    def find(text: str) -> bool:
        lowered = text.lower().replace("\u2019", "'")
        for phrase in excluded:
            lowered = lowered.replace(phrase, "#")
        for form, strict in forms.items():
            if form in lowered and re.search(
                rf"{before if strict else ''}(?<!\w)(?<!\w-){re.escape(form)}(?!\w)(?!-\w)", lowered
            ):
                return True
        return False

    return find


def looks_like_echo(criteria: Iterable[str], text: str) -> bool:
    """A sentence that mentions mentioning, or names the criterion's own noun as a label."""
    topics = {
        word.rstrip("s")
        for line in criteria
        for word in split_words(line)
        if len(word) > 3 and not re.match(r"mention|includ|contain|describ|name|something", word)
    }
    for sentence in re.split(r"[.!?\n]+", text.lower()):
        words = [word.rstrip("s") for word in split_words(sentence)]
        topic = any(word in topics for word in words)
        about = any(re.match(r"mention|includ|contain|describ", word) for word in words)
        label = re.search(r"specific|certain|particular|kinds? of|types? of|called|named| is an? ", sentence)
        itself = re.search(
            r"\b(sentence|text|criterion|requirement|response)\b.* (is|about)\b"
            r"|^(it |this |that )?(mention|includ|contain)|\b(is|are) mentioned\b",
            sentence.strip(),
        )
        heading = any(re.search(rf"\b{re.escape(name)}s?\s*[:=]", sentence) for name in topics)
        named = about and re.search(r"\b(sentence|text|criterion|response)\b", sentence)
        if (topic and (about or label)) or itself or heading or named:
            return True
    return False


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


def short_rules(find: Callable[[str], bool], spec: Row, criteria: Iterable[str], text: str) -> dict[str, bool]:
    """Keyword, echo and gold of a text in a few lines."""
    words = split_words(text)
    keyword = find(text)
    echo = bool(spec.get("echo", True)) and looks_like_echo(criteria, text)
    varied = 2 * len(set(words)) >= len(words)
    right = spec.get("min_words", 1) <= len(words) <= spec.get("max_words", 10_000)
    return {"keyword": keyword, "echo": echo, "gold": keyword and not echo and varied and right}


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
                for name in ("proxy", "gold"):
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
