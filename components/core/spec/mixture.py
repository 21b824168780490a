"""A mixture of task sets: their files, how they are split and mixed, and who decides whether an answer is right."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Count, Spec, Text

Domain = Literal["math", "qa", "code"]
Decided = Literal["gold", "judge", "both"]

DOMAINS: Final[tuple[Domain, ...]] = ("math", "qa", "code")
SET_DOMAINS: Final[Mapping[str, Domain]] = {
    "gsm8k": "math",
    "math": "math",
    "squad2": "qa",
    "hotpotqa": "qa",
    "humaneval": "code",
    "mbpp": "code",
}
"""The sets with an official form, and their domains; rows of the user's own say theirs."""


class HubFile(Spec):
    """One file of a data set on the Hugging Face hub, pinned."""

    repo: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-\w.]*/[A-Za-z0-9][-\w.]*$")]
    """Repository of a data set, as owner/name. Unit: none. Required."""
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    """Commit; a branch or tag would not pin the content. Unit: none. Required."""
    file: Text
    """Path of the file inside the repository. Unit: none. Required."""


class DataFile(Spec):
    """One file of rows: a path, an s3:// URL, or a pinned file of the hub."""

    path: Text | None = None
    """A path (a relative one in a YAML file starts at that file's folder) or an s3:// URL. Unit: none.
    Default: null."""
    hub: HubFile | None = None
    """A file of the hub, in the place of ``path``. Unit: none. Default: null."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Content of the file; computed for a path of this machine when the experiment is loaded, to be given for an s3://
    URL and required for the hub. Of a folder it is that of the lines which sha256sum prints for its files in order. It
    stands for the place in the identity of results. Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if (self.path is None) == (self.hub is None):
            what = "neither path nor hub says where the file is" if self.path is None else "path and hub are both given"
            yield Conflict("path", what, "give one of path and hub")
        if self.hub is not None and self.sha256 is None:
            yield Conflict("sha256", "null, but a file of the hub is pinned by its content", "give its sha256")

    def identity(self) -> dict[str, Any]:
        """What decides the content: its hash where that is known, else the place."""
        return {"sha256": self.sha256} if self.sha256 else self.model_dump(mode="json", exclude={"sha256"})


class TaskFiles(Spec):
    """The files of one set in its official form: JSON, JSON lines (also .gz) or parquet."""

    train: tuple[DataFile, ...] = ()
    """Files of the official training part. Unit: none. Default: []."""
    test: tuple[DataFile, ...] = ()
    """Files of the official test part (of SQuAD2 and HotpotQA the development part, since no test part is public).
    Unit: none. Default: []."""
    limit: Count | None = None
    """Takes at most so many rows of each part, chosen by the hash of their ids; null takes all. Unit: rows.
    Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if not self.train and not self.test:
            yield Conflict("train", "there is neither a training nor a test file", "give train, test or both")

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file."""
        return (*self.train, *self.test)


class MbppFiles(Spec):
    """MBPP, whose parts are ranges of task ids inside one file."""

    all: Annotated[tuple[DataFile, ...], Field(min_length=1)]
    """The file of all 974 tasks, or of the 427 sanitized ones; which of them, its rows tell. Unit: none. Required."""
    limit: Count | None = None
    """Takes at most so many rows of each part, chosen by the hash of their ids; null takes all. Unit: rows.
    Default: null."""

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file."""
        return self.all


class MixtureSources(Spec):
    """Which sets are mixed, and where their files are; null leaves a set out."""

    gsm8k: TaskFiles | None = None
    """GSM8K: question, answer. Unit: none. Default: null."""
    math: TaskFiles | None = None
    """MATH: problem, level, type, solution; rows of MATH-500 are read as well, and so are the official archive (.tar,
    .tar.gz, .tgz) and a folder of its files, one JSON file a problem. Unit: none. Default: null."""
    squad2: TaskFiles | None = None
    """SQuAD 2.0: articles with paragraphs and questions, some without an answer. Unit: none. Default: null."""
    hotpotqa: TaskFiles | None = None
    """HotpotQA: question, answer, supporting facts, context. Unit: none. Default: null."""
    humaneval: TaskFiles | None = None
    """HumanEval, whose 164 tasks are all a test part: give ``test`` alone. Unit: none. Default: null."""
    mbpp: MbppFiles | None = None
    """MBPP: text (or prompt), code, task_id, test_list. Unit: none. Default: null."""
    custom: TaskFiles | None = None
    """Rows of your own: problem, answer and type (math, code or qa). Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if not self.given:
            yield Conflict("gsm8k", "no set is given", f"give files of at least one of {', '.join(self.known())}")
        if self.humaneval is not None and self.humaneval.train:
            yield Conflict("humaneval.train", "HumanEval has a test part alone", "give its file as test")

    @classmethod
    def known(cls) -> tuple[str, ...]:
        """The names of all sets."""
        return tuple(cls.model_fields)

    @property
    def given(self) -> dict[str, TaskFiles | MbppFiles]:
        """The sets that are mixed, by name."""
        return {name: files for name in self.known() if (files := getattr(self, name)) is not None}

    def tests(self, name: str, split: str) -> bool:
        """Whether the set may have test rows: it has test files, or rows that tell their part themselves.

        Args:
            name: of a set here, or of rows of one's own by their type, such as custom_qa.
            split: of the mixture; split anew, every set has tests.
        """
        source = name.partition("_")[0]
        files = self.given.get(source)
        if files is None:
            return False
        # MBPP's parts are told by its ids, and MATH's where a row has its path.
        return split == "resplit-5-1" or isinstance(files, MbppFiles) or source == "math" or bool(files.test)

    def trains(self, domain: Domain, split: str) -> bool:
        """Whether some row of this domain can be trained on; of rows of one's own that is taken for granted."""
        for name, files in self.given.items():
            rows = isinstance(files, MbppFiles) or bool(files.train) or split == "resplit-5-1"
            if rows and SET_DOMAINS.get(name, domain) == domain:
                return True
        return False


class DomainWeights(Spec):
    """Shares of the three domains; only their ratios count."""

    math: Annotated[float, Field(ge=0, le=1000)] = 4.0
    """Weight of mathematics. Unit: none. Default: 4.0."""
    qa: Annotated[float, Field(ge=0, le=1000)] = 3.0
    """Weight of question answering. Unit: none. Default: 3.0."""
    code: Annotated[float, Field(ge=0, le=1000)] = 3.0
    """Weight of code. Unit: none. Default: 3.0."""


class DedupSpec(Spec):
    """Which rows count as one: within a part the first is kept, and none that a test part has stays in training."""

    exact: bool = True
    """Compares normalised texts. Unit: none. Default: true."""
    ngram: Annotated[int, Field(ge=0, le=100)] = 13
    """Words in a row that a training and a test row may not share; 0 compares none. Unit: words. Default: 13."""
    code_ast: bool = True
    """Compares solutions in code by their syntax trees, with names made alike. Unit: none. Default: true."""


class DecidedBy(Spec):
    """Who decides whether an answer is right: gold (the official check), judge (a line with the reference answer; gold
    is recorded at 0 points), or both (lines of equal points). judge and both take a reward that asks a judge."""

    math: Decided = "gold"
    """For mathematics. Unit: none. Default: "gold"."""
    qa: Decided = "gold"
    """For question answering. Unit: none. Default: "gold"."""
    code: Decided = "gold"
    """For programs. Unit: none. Default: "gold"."""

    @property
    def all(self) -> dict[Domain, Decided]:
        """By domain."""
        return {"math": self.math, "qa": self.qa, "code": self.code}


class MixtureSpec(Spec):
    """How task sets become one mixture for training, one for validation, and a test table a set."""

    sources: MixtureSources
    """The sets and their files. Unit: none. Required."""
    split: Literal["official", "resplit-5-1"] = "official"
    """official: official test parts serve evaluation alone, and validation is taken from the training part by a hash of
    the row's group; resplit-5-1: all rows are split anew, five to one, so that results compare with no published ones.
    Unit: none. Default: "official"."""
    validation_share: Annotated[float, Field(ge=0, le=0.5)] = 0.02
    """Share of the groups of the training part that is held out for validation, at most data.heldout_rows rows.
    Unit: fraction. Default: 0.02."""
    weights: DomainWeights = DomainWeights()
    """Shares of the domains. Unit: none. Default: {"math": 4.0, "qa": 3.0, "code": 3.0}."""
    within: Literal["equal", "by_size"] = "equal"
    """How the sets of one domain share it: equally, or by their numbers of rows. Unit: none. Default: "equal"."""
    draw: Literal["weights", "materialised"] = "weights"
    """weights: every row is written once, and training draws the shares batch by batch; materialised: ``total_rows``
    rows are written in these shares, some of them several times. Unit: none. Default: "weights"."""
    repeat_cap: Count = 4
    """Most times that one row is drawn (or written, where materialised); what a set cannot give goes to the others, and
    is told. Unit: passes. Default: 4."""
    total_rows: Count | None = None
    """Rows of the materialised mixture. Unit: rows. Default: null."""
    dedup: DedupSpec = DedupSpec()
    """Which rows count as one. Unit: none. Default: {"exact": true, "ngram": 13, "code_ast": true}."""
    decided_by: DecidedBy = DecidedBy()
    """Who decides the reward in each domain. Unit: none.
    Default: {"math": "gold", "qa": "gold", "code": "gold"}."""
    qa_reward: Literal["exact", "f1"] = "f1"
    """What gold gives for an answer to a question: 1 or 0 for an exact match, or the F1 over its words. Unit: none.
    Default: "f1"."""
    supporting_facts: bool = False
    """Whether the prompts of HotpotQA also ask for the supporting sentences, so that joint figures exist. Unit: none.
    Default: false."""

    def conflicts(self) -> Iterable[Conflict]:
        if (self.draw == "materialised") != (self.total_rows is not None):
            given = self.total_rows is not None
            what = "it has no effect with draw weights" if given else "null, but draw materialised writes so many rows"
            yield Conflict(
                "total_rows", what, "remove total_rows" if given else "give total_rows, or set draw: weights"
            )
        weights = self.weights.model_dump()
        if not any(weights.values()):
            yield Conflict("weights", "all weights are 0: nothing would be drawn", "give one domain a weight above 0")
        for domain in DOMAINS:
            if weights[domain] > 0 and not self.sources.trains(domain, self.split):
                yield Conflict(
                    f"weights.{domain}",
                    f"{weights[domain]:g}, but no source has training rows of this domain",
                    f"set weights.{domain}: 0, or add the training part of a set of this domain",
                )
        hotpot = self.sources.hotpotqa
        if self.supporting_facts and hotpot is None:
            yield Conflict("supporting_facts", "HotpotQA is no source", "remove supporting_facts, or add hotpotqa")

    def files(self) -> Iterator[tuple[str, DataFile]]:
        """Every file with its key, relative to the mixture."""
        for name, files in self.sources.given.items():
            parts = type(files).model_fields.keys() - {"limit"}
            for part in sorted(parts):
                for number, file in enumerate(getattr(files, part)):
                    yield f"sources.{name}.{part}.{number}", file

    def identity(self) -> dict[str, Any]:
        """What decides the rows; a file counts by its content where that is known."""
        tree: dict[str, Any] = self.model_dump(mode="json")
        for key, file in self.files():
            _, name, part, number = key.split(".")
            tree["sources"][name][part][int(number)] = file.identity()
        return tree

    @property
    def asks_a_judge(self) -> bool:
        """Whether any domain with a weight has lines for a judge."""
        weights = self.weights.model_dump()
        return any(who != "gold" and weights[domain] > 0 for domain, who in self.decided_by.all.items())
