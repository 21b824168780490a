"""What info.json, draw.json and test_index.json say about the mixture."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from components.data.mixture import mixing
from components.data.mixture.duplicates import MOST_LINKED, NEAR
from components.data.mixture.fetch import Fetched
from components.data.mixture.plan import NAMES, Plan, sizes_of
from components.data.mixture.stage import Index
from components.tasks.sets import DATASETS

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.mixture import MixtureSpec

Flags = npt.NDArray[np.bool_]
NOT_COMPARABLE = (
    "Split anew, five rows to one: official test rows were trained on, so no figure compares with published ones."
)


def draw_of(experiment: "Experiment", index: Index, plan: Plan) -> dict[str, Any]:
    """What the sampler needs: the shares, the sets with their sizes, and the cap."""
    mixture = _mixture(experiment)
    sizes = sizes_of(index, np.flatnonzero(plan.train))
    shares = mixing.shares(_weights(mixture), sizes, by_size=mixture.within == "by_size")
    return {
        "draw": mixture.draw,
        "seed": experiment.seed,
        "weights": {domain: weight for domain, weight in _weights(mixture).items() if domain in sizes},
        "within": mixture.within,
        "repeat_cap": mixture.repeat_cap,
        "sets": {
            name: {"domain": domain, "rows": rows, "share": float(shares[name])}
            for domain, found in sizes.items()
            for name, rows in found.items()
        },
    }


def epochs_of(experiment: "Experiment", index: Index, plan: Plan) -> dict[str, Any]:
    """How often one pass through the training table draws each row of a set.

    A pass has as many prompts as the table has rows; how many passes training makes is its own affair, so that more
    steps do not prepare the data again. ``prompts_before_a_cap`` is the number of prompts after which the first set has
    given all that the cap allows.
    """
    mixture = _mixture(experiment)
    sizes = sizes_of(index, np.flatnonzero(plan.train))
    flat = {name: rows for found in sizes.values() for name, rows in found.items()}
    by_size = mixture.within == "by_size"
    shares = mixing.shares(_weights(mixture), sizes, by_size=by_size)
    total = mixture.total_rows or sum(flat.values())
    drawn = plan.draws or mixing.planned(total, _weights(mixture), sizes, by_size=by_size, cap=mixture.repeat_cap)
    reached = [math.floor(mixture.repeat_cap * flat[name] / share) for name, share in shares.items() if share]
    return {
        "prompts": total,
        "prompts_short": total - sum(drawn.values()),
        "prompts_before_a_cap": min(reached, default=None),
        "sets": {
            name: {
                "rows": rows,
                "asked": round(float(total * shares[name]), 3),
                "drawn": drawn.get(name, 0),
                "effective_epochs": round(drawn.get(name, 0) / rows, 6),
                "effective_epochs_per_1000_prompts_uncapped": round(float(1000 * shares[name] / rows), 6),
                "capped": drawn.get(name, 0) == mixture.repeat_cap * rows,
            }
            for name, rows in flat.items()
        },
    }


def info_of(
    experiment: "Experiment",
    index: Index,
    plan: Plan,
    sources: Sequence[tuple[str, str, Fetched, int]],
    contaminated: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """All of info.json but the files written.

    Args:
        experiment: with data of kind mixture.
        index: of the rows.
        plan: where they went.
        sources: set, part, file and rows of each file read.
        contaminated: data set -> ids of official test rows that are trained on.
    """
    mixture = _mixture(experiment)
    trained, tested = np.flatnonzero(plan.train), np.flatnonzero(index.test & ~plan.over_limit)
    return {
        "name": experiment.data.name,
        "seed": experiment.seed,
        "split": mixture.split,
        "not_comparable": NOT_COMPARABLE if mixture.split != "official" else None,
        "contaminated": {name: list(ids) for name, ids in contaminated.items()},
        "inputs": [
            {"set": name, "part": part, "source": _place(file), "sha256": file.sha256, "bytes": file.size, "rows": rows}
            for name, part, file, rows in sources
        ],
        "licences": {name: DATASETS[name].licence for name in _present(index)},
        "rows": {
            "read": _counts(index, np.ones(len(index), bool)),
            "over_limit": _counts(index, plan.over_limit),
            "train": _counts(index, plan.train),
            "validation": _counts(index, plan.validation),
            "heldout": _counts_of(index, plan.heldout),
            "test": {name: len(rows) for name, rows in plan.tests.items()},
            "test_mixed": _counts_of(index, plan.mixed),
        },
        "duplicates": duplicates_of(index, plan, mixture),
        "mixture": {
            "weights": _weights(mixture),
            "within": mixture.within,
            "draw": mixture.draw,
            "repeat_cap": mixture.repeat_cap,
            "total_rows": mixture.total_rows,
            "materialised": plan.draws or None,
            "materialised_short": mixture.total_rows - sum(plan.draws.values()) if mixture.total_rows else None,
            "decided_by": dict(mixture.decided_by.all),
        },
        "epochs": epochs_of(experiment, index, plan),
        "train_rows": len(trained),
        "test_rows": len(tested),
    }


def duplicates_of(index: Index, plan: Plan, mixture: "MixtureSpec") -> dict[str, Any]:
    """Counts of each comparison: what training lost to itself and to the tests, and what tests repeat."""
    found: dict[str, Any] = {
        "compared": {
            "exact": mixture.dedup.exact,
            "code_ast": mixture.dedup.code_ast,
            "ngram": mixture.dedup.ngram or None,
            "near_duplicate_from_share": NEAR,
            "groups_from_runs_of_at_most_rows": MOST_LINKED,
        }
    }
    for name, each in plan.duplicates.items():
        found[name] = {
            "within_train_left_out": _counted(index, each.within_train),
            "across_left_out_of_train": _counted(index, each.across),
            "within_test_kept": _counted(index, each.within_test),
            "pairs_that_share_a_split": len(each.links),
        }
    return found


def contaminated_rows(index: Index, plan: Plan) -> npt.NDArray[np.int64]:
    """Rows that are tests by their authors and training rows here."""
    return np.flatnonzero(index.official_test & plan.train)


def _counted(index: Index, flags: Flags) -> dict[str, Any]:
    return {"all": int(flags.sum()), "sets": _counts(index, flags)}


def _counts(index: Index, flags: Flags) -> dict[str, int]:
    return _counts_of(index, np.flatnonzero(flags))


def _counts_of(index: Index, rows: npt.NDArray[np.int64]) -> dict[str, int]:
    counts = np.bincount(index.dataset[rows], minlength=len(NAMES))
    return {name: int(counts[number]) for number, name in enumerate(NAMES) if counts[number]}


def _present(index: Index) -> list[str]:
    return [NAMES[number] for number in np.unique(index.dataset)]


def _place(file: Fetched) -> str:
    """A URL as it is; of a path of this machine the name alone, so that equal inputs give equal files."""
    return file.source if "://" in file.source else file.path.name


def _weights(mixture: "MixtureSpec") -> dict[str, float]:
    return dict(mixture.weights.model_dump())


def _mixture(experiment: "Experiment") -> "MixtureSpec":
    mixture = experiment.data.mixture
    assert mixture is not None
    return mixture
