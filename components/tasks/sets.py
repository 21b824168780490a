"""The data sets of the mixed baseline: what each one is, under which licence, and how large its official files are."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

from components.core.errors import ConfigError

Domain = Literal["math", "qa", "code"]
DOMAINS: Final[tuple[Domain, ...]] = get_args(Domain)


@dataclasses.dataclass(frozen=True, slots=True)
class Dataset:
    """One data set.

    Attributes:
        name: as in configurations, files and results.
        title: as its authors write it.
        domain: math, qa or code.
        licence: of the data.
        sizes: rows of the official files by split; empty for sets that users bring.
        metric: the official metric, in words.
        trained: whether an official split may be trained on.
        comparison: what its score may be compared with, and what a trivial answer reaches; empty when nothing is known.
    """

    name: str
    title: str
    domain: Domain
    licence: str
    sizes: Mapping[str, int]
    metric: str
    trained: bool
    comparison: str = ""


_ALL: Final = (
    Dataset(
        "gsm8k",
        "GSM8K",
        "math",
        "MIT",
        MappingProxyType({"train": 7473, "test": 1319}),
        'the number of the answer (behind ####, in a box, behind "answer is", else the last one) equals the gold one',
        trained=True,
        comparison="Official test set. A constant answer reaches next to nothing.",
    ),
    Dataset(
        "math",
        "MATH",
        "math",
        "MIT (code; the origin of the problems is disputed)",
        MappingProxyType({"train": 7500, "test": 5000}),
        "the boxed answer equals the gold one, as a string after normalisation or symbolically",
        trained=True,
        comparison="Symbolic equality finds slightly more equal answers than the original string comparison.",
    ),
    Dataset(
        "squad2",
        "SQuAD 2.0",
        "qa",
        "CC BY-SA 4.0",
        MappingProxyType({"train": 130319, "dev": 11873}),
        "exact match and token F1, the best over the gold answers; answerable and unanswerable apart",
        trained=True,
        comparison="Official development set, since the test set is hidden. Always no answer: 50.07 EM and F1.",
    ),
    Dataset(
        "hotpotqa",
        "HotpotQA",
        "qa",
        "CC BY-SA 4.0",
        MappingProxyType({"train": 90447, "dev": 7405}),
        "exact match and token F1 of the answer; of the supporting facts, and of both together, where they are asked",
        trained=True,
        comparison="Official development set, since the test set is hidden; distractor setting.",
    ),
    Dataset(
        "humaneval",
        "HumanEval",
        "code",
        "MIT",
        MappingProxyType({"test": 164}),
        "pass@k, unbiased",
        trained=False,
        comparison="A test set only: whoever trained on it has no score.",
    ),
    Dataset(
        "mbpp",
        "MBPP",
        "code",
        "CC BY 4.0",
        MappingProxyType({"prompt": 10, "test": 500, "validation": 90, "train": 374}),
        "pass@k, unbiased; the tests are part of the prompt",
        trained=True,
        comparison="Official test ids 11 to 510; the sanitized file has 257 of these.",
    ),
    Dataset(
        "custom_math",
        "Own problems",
        "math",
        "the user's",
        MappingProxyType({}),
        "the last answer equals the gold one, as for MATH",
        trained=True,
    ),
    Dataset(
        "custom_qa",
        "Own questions",
        "qa",
        "the user's",
        MappingProxyType({}),
        "exact match and token F1, as for SQuAD 2.0",
        trained=True,
    ),
    Dataset(
        "custom_code",
        "Own programs",
        "code",
        "the user's",
        MappingProxyType({}),
        "pass@k, unbiased",
        trained=True,
    ),
)

DATASETS: Final[Mapping[str, Dataset]] = MappingProxyType({each.name: each for each in _ALL})
"""All of them by name, the six official ones first. Sizes and licences: the publications and files of each."""

OFFICIAL: Final[tuple[str, ...]] = tuple(each.name for each in _ALL if each.sizes)
"""Names of the six published ones."""


def dataset(name: str, *, where: str = "") -> Dataset:
    """The data set of this name.

    Raises:
        ConfigError: there is none.
    """
    found = DATASETS.get(name)
    if found is None:
        raise ConfigError(f"no data set is named {name!r}", where=where, remedy=f"one of {', '.join(DATASETS)}")
    return found


def domain(name: str) -> Domain:
    """Whether a data set's answers are math, qa or code.

    Raises:
        ConfigError: there is no such data set.
    """
    return dataset(name).domain
