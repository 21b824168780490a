"""The stored tables of a run, read for the independent recomputation, and one comparison with the report."""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from recompute_texts import keyword_finder

Row = dict[str, Any]
WORDS_FOLDER = Path(__file__).resolve().parents[2] / "components" / "gold" / "words"


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
        # Rewards of a control arm in training come from no verdict: they are taken as they are stored.
        self.arm = self.spec["reward"]["combine"] not in ("rubric", "verif")
        self.rollout_rewards: dict[str, float | None] = (
            {row["sample_id"]: row["reward"] for row in self.rollouts}
            if self.arm
            else self.rewards(training / "verdicts.parquet")
        )
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
        spec: Row | None = self.own_gold.get(row_id, self.spec["data"]["gold"])
        return None if spec is None or spec.get("constraints") or not spec.get("word_list") else spec

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
        """Sample id -> clipped, points-weighted mean over its known criteria; of verif the product of its factors.

        None when too little of the positive points is known, or a penalty is not.
        """
        latest: dict[tuple[str, int], Row] = {}
        for row in sorted(rows(ledger), key=lambda row: row["time"]):
            latest[row["sample_id"], row["criterion_index"]] = row
        samples: dict[str, list[Row]] = defaultdict(list)
        for (sample_id, _), row in latest.items():
            samples[sample_id].append(row)
        combine = self.product if self.spec["reward"]["combine"] == "verif" else self.weighted
        return {sample_id: combine(verdicts) for sample_id, verdicts in samples.items()}

    def product(self, verdicts: Sequence[Row]) -> float | None:
        """Share of the rule checks that hold, times the mean of the other lines; a factor without lines is 1."""
        by_rule = [row for row in verdicts if row["judge"] == "rule"]
        known = [row for row in by_rule if row["status"] != "unknown"]
        others = [row for row in verdicts if row["judge"] != "rule"]
        judged = self.weighted(others) if others else 1.0
        least = self.spec["reward"]["min_known_weight"] * len(by_rule) - 1e-9
        if judged is None or (by_rule and not known) or len(known) < least:
            return None
        return judged * (sum(row["status"] == "met" for row in known) / len(known) if by_rule else 1.0)

    def weighted(self, verdicts: Sequence[Row]) -> float | None:
        """Points-weighted mean over the known verdicts, in [0, 1] unless the experiment does not clip."""
        spec = self.spec["reward"]
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
            gained += weight * (float(row["status"] == "met") if spec["value"] == "binary" else row["probability"])
        enough = known > 0 and known >= spec["min_known_weight"] * positive - 1e-9
        if not enough or blind:
            return None
        return min(1.0, max(0.0, gained / known)) if spec["clip"] else gained / known


def rows(path: Path) -> list[Row]:
    """A parquet file as dictionaries."""
    found: list[Row] = pq.read_table(path).to_pylist()
    return found


def mean(values: Iterable[float | None]) -> float | None:
    """Of the known values."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
