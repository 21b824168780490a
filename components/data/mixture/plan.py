"""Where every row goes, decided from the index alone."""

import dataclasses
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from components.core.errors import ConfigError
from components.data.mixture import duplicates, mixing, splits
from components.data.mixture.buckets import Buckets
from components.data.mixture.groups import joined
from components.data.mixture.stage import Index
from components.tasks.sets import DATASETS

if TYPE_CHECKING:
    from components.core.spec.mixture import MixtureSpec

NAMES: Final = tuple(DATASETS)
"""Data sets by their number in the index."""
COMPARISONS: Final = ("exact", "code_ast", "ngram")
"""In this order: a row that one leaves out, the next does not see."""
Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """Attributes:
    train: rows that may be trained on.
    validation: rows held out of training; those of ``heldout`` are written.
    heldout: the validation table.
    tests: data set -> rows of its test table.
    mixed: rows of the mixed test, each once.
    groups: number of each row's group.
    duplicates: what each comparison found.
    over_limit: rows that ``limit`` of their source left out.
    draws: planned draws of each data set, where the mixture is materialised; else empty.
    """

    train: Flags
    validation: Flags
    heldout: Rows
    tests: dict[str, Rows]
    mixed: Rows
    groups: npt.NDArray[np.uint64]
    duplicates: dict[str, duplicates.Found]
    over_limit: Flags
    draws: dict[str, int]


def plan(mixture: "MixtureSpec", index: Index, buckets: Buckets, *, seed: int, heldout_rows: int) -> Plan:
    """Decide.

    Args:
        mixture: how.
        index: of the rows; its ``test`` is set anew where all are split anew.
        buckets: their runs of words.
        seed: of the experiment.
        heldout_rows: most rows of the validation table.

    Raises:
        ConfigError: nothing is left to train on or to validate with.
    """
    if mixture.split == "resplit-5-1":
        index.test[:] = splits.resplit(index.dataset, index.id, seed=seed)
    within_limit = _limited(mixture, index, seed)
    found, left_out, links = _duplicates(mixture, index, buckets, within_limit, seed)
    groups = joined(index.group, links)
    pool = within_limit & ~index.test & ~left_out
    held = pool & splits.validation(groups, mixture.validation_share, seed=seed)
    train = pool & ~held
    if not train.any():
        raise ConfigError(
            f"of {len(index)} rows none is left for training", where="data.mixture", remedy="add training files"
        )
    weights = mixture.weights.model_dump()
    by_size = mixture.within == "by_size"
    heldout = _drawn_once(index, np.flatnonzero(held), weights, by_size, heldout_rows, seed, "heldout")
    if not len(heldout) and mixture.validation_share > 0:
        raise ConfigError(
            f"a share of {mixture.validation_share:g} of {int(pool.sum())} rows' groups gives no row for validation",
            where="data.mixture.validation_share",
            remedy="raise it, or add training rows",
        )
    test_rows = np.flatnonzero(within_limit & index.test)
    tests = {
        name: rows for number, name in enumerate(NAMES) if len(rows := test_rows[index.dataset[test_rows] == number])
    }
    draws: dict[str, int] = {}
    if mixture.total_rows is not None:
        sizes = sizes_of(index, np.flatnonzero(train))
        draws = mixing.planned(mixture.total_rows, weights, sizes, by_size=by_size, cap=mixture.repeat_cap)
    return Plan(
        train=train,
        validation=held,
        heldout=heldout,
        tests=tests,
        mixed=_mixed_test(index, test_rows, weights, by_size, seed),
        groups=groups,
        duplicates=found,
        over_limit=~within_limit,
        draws=draws,
    )


def sizes_of(index: Index, rows: Rows) -> dict[str, dict[str, int]]:
    """Domain -> data set -> number of these rows."""
    counts = np.bincount(index.dataset[rows], minlength=len(NAMES))
    found: dict[str, dict[str, int]] = {}
    for number, name in enumerate(NAMES):
        if counts[number]:
            found.setdefault(DATASETS[name].domain, {})[name] = int(counts[number])
    return found


def _limited(mixture: "MixtureSpec", index: Index, seed: int) -> Flags:
    """Rows within their source's limit."""
    order = splits.ranks(index.id, seed=seed, purpose="limit")
    kept = np.ones(len(index), bool)
    for source, files in mixture.sources.given.items():
        if files.limit is None:
            continue
        numbers = [number for number, name in enumerate(NAMES) if name == source or name.startswith(f"{source}_")]
        mine = np.isin(index.dataset, numbers)
        for part in (mine & index.test, mine & ~index.test):
            rows = np.flatnonzero(part)
            kept[rows] = False
            kept[splits.least(rows, order, files.limit)] = True
    return kept


def _duplicates(
    mixture: "MixtureSpec", index: Index, buckets: Buckets, alive: Flags, seed: int
) -> tuple[dict[str, duplicates.Found], Flags, Rows]:
    """What each comparison found, the rows that are left out, and pairs that must share a split."""
    order = splits.ranks(index.id, seed=seed, purpose="first").argsort(kind="stable").argsort(kind="stable")
    left_out = np.zeros(len(index), bool)
    found: dict[str, duplicates.Found] = {}
    links: Rows = np.empty((0, 2), np.int64)
    wanted = {"exact": mixture.dedup.exact, "code_ast": mixture.dedup.code_ast, "ngram": bool(mixture.dedup.ngram)}
    # Questions about one passage often differ in a word that turns an answerable one into one that is not: to leave
    # out half of such pairs would take away what SQuAD2 is about. They share a split.
    questions = np.isin(index.dataset, [number for number, name in enumerate(NAMES) if DATASETS[name].domain == "qa"])
    for name in COMPARISONS:
        if not wanted[name]:
            continue
        # A test row that a limit leaves out stays a test row: nothing like it is trained on.
        here = (alive | index.test) & ~left_out
        if name == "ngram":
            each = duplicates.by_runs(buckets, index, here, order, questions)
            links = each.links
        else:
            numbers = index.text if name == "exact" else index.tree
            each = duplicates.by_number(numbers, index, here, order)
        found[name] = dataclasses.replace(each, within_test=each.within_test & alive)
        left_out |= found[name].within_train | found[name].across
    return found, left_out, links


def _drawn_once(
    index: Index, rows: Rows, weights: dict[str, float], by_size: bool, total: int, seed: int, purpose: str
) -> Rows:
    """At most ``total`` of these rows in the mixture's shares, each at most once."""
    counts = mixing.planned(total, weights, sizes_of(index, rows), by_size=by_size, cap=1)
    return _chosen(index, rows, counts, seed, purpose)


def _mixed_test(index: Index, rows: Rows, weights: dict[str, float], by_size: bool, seed: int) -> Rows:
    """The largest test in the shares of the domains, and of the sets within them, in which no row stands twice."""
    sizes = sizes_of(index, rows)
    present = {domain: weight for domain, weight in weights.items() if domain in sizes and weight > 0}
    room = {
        domain: sum(found.values()) if by_size else len(found) * min(found.values()) for domain, found in sizes.items()
    }
    totals = mixing.without_repetition(room, present)
    counts: dict[str, int] = {}
    for domain, total in totals.items():
        counts.update(mixing.planned(total, {domain: 1}, {domain: sizes[domain]}, by_size=by_size, cap=1))
    return _chosen(index, rows, counts, seed, "mixed test")


def _chosen(index: Index, rows: Rows, counts: dict[str, int], seed: int, purpose: str) -> Rows:
    order = splits.ranks(index.id, seed=seed, purpose=purpose)
    chosen = [
        splits.least(rows[index.dataset[rows] == NAMES.index(name)], order, count) for name, count in counts.items()
    ]
    return np.sort(np.concatenate([np.empty(0, np.int64), *chosen]))
