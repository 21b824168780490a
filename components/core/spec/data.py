"""The data: prompts, the rubric the judge decides, and the gold checks it never sees."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Count, FileName, Name, Spec, Text
from components.core.spec.mixture import MixtureSpec


class CriterionSpec(Spec):
    """One line of the rubric."""

    text: Text
    """What the response is to do, as the judge reads it. Unit: none. Required."""
    points: Annotated[float, Field(ge=-1000, le=1000)] = 1.0
    """Weight; negative for a penalty that applies when the criterion is met. Unit: points. Default: 1.0."""
    verifier: Literal["llm", "rule"] = "llm"
    """Who decides: the judge, or code. Unit: none. Default: "llm"."""
    tags: tuple[Text, ...] = ()
    """Free labels, such as axis:accuracy. Unit: none. Default: []."""
    rule: dict[str, str | int | float | bool] | None = None
    """The check of a line with verifier rule: its name (math_verify, word_count_range, python) and arguments.
    Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if (self.verifier == "rule") != (self.rule is not None):
            yield Conflict(
                "rule",
                "verifier rule needs a rule, and no other verifier has one",
                "for example {verifier: rule, rule: {name: word_count_range, min_count: 20, max_count: 40}}",
            )
        if self.points == 0:
            yield Conflict(
                "points", "0 points decide nothing", "give a positive weight, or a negative one for a penalty"
            )


class GoldSpec(Spec):
    """Rule checks behind the judge's back: what the response truly does."""

    word_list: FileName | None = None
    """Name of a list in components/gold/words, without .txt; a gold response has one of its words. Null, which kind
    sentences does not take, asks for none. Unit: none. Default: null."""
    min_words: Annotated[int, Field(ge=0)] = 4
    """Shortest gold response. Unit: words. Default: 4."""
    max_words: Count = 40
    """Longest gold response. Unit: words. Default: 40."""
    echo: bool = True
    """Whether a response that parrots the criterion's wording fails. Unit: none. Default: true."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.min_words > self.max_words:
            yield Conflict(
                "min_words",
                f"{self.min_words} is above max_words {self.max_words}: no response could pass",
                f"lower min_words to at most {self.max_words}",
            )


class DataSpec(Spec):
    """Prompts for training and for the held-out evaluation."""

    name: Name
    """Name in the rows' data_source and in reports; the file's name where the file gives none. Unit: none. Required."""
    kind: Literal["sentences", "jsonl", "rubric_rows", "verif_rows", "mixture"]
    """Generated from the templates in components/data/sentences; read from a file: your own (jsonl), rows with
    rubrics as RuscaRL and HealthBench have them, or rows with checkers and functions as VerIF has them; or mixed from
    task sets (mixture). Unit: none. Required."""
    path: Text | None = None
    """File of every kind but sentences and mixture, .jsonl (one JSON object a line) or, for rubric_rows and verif_rows,
    .parquet: a path (a relative one in a YAML file starts at that file's folder) or an s3:// URL. Unit: none.
    Default: null."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Content of ``path``; computed when the experiment is loaded, to be given for an s3:// URL. It stands for the path
    in the identity of results. Unit: none. Default: null."""
    train_rows: Annotated[int, Field(ge=0)] = 0
    """Prompts for training; kind mixture takes 0, since its sources and their limits decide, and every other kind at
    least 1. Unit: rows. Default: 0."""
    heldout_rows: Count
    """Prompts for evaluation; their templates and subjects never occur in training. For kind mixture, most rows of
    the validation part. Unit: rows. Required."""
    mixture: MixtureSpec | None = None
    """For kind mixture: the sets, and how they are mixed. Unit: none. Default: null."""
    criteria: tuple[CriterionSpec, ...] = ()
    """The rubric of every row; with kind jsonl it may be empty when the rows bring theirs, with rubric_rows and
    verif_rows it is. Unit: none. Default: []."""
    constraints: Literal["own", "all_to_judge", "soft_only"] = "own"
    """For kind verif_rows: own gives [llm] lines to the judge and [rule] lines to their functions in the sandbox;
    all_to_judge gives the texts of all lines to the judge and runs nothing; soft_only leaves out [rule] lines.
    Unit: none. Default: "own"."""
    rubric_from_checkers: bool = False
    """For kind verif_rows: whether the judge's lines are derived from the checkers as rubrics are (numbered lists
    split, fragments and repetitions left out, at most 32) instead of one line a checker. Unit: none. Default: false."""
    allow_benchmark: bool = False
    """Whether rows of an evaluation benchmark (HealthBench) may be trained on; results on that benchmark then say
    nothing. Unit: none. Default: false."""
    licence: Text | None = None
    """Licence of the rows, for data.json. Unit: none. Default: null."""
    origin: Text | None = None
    """Where the rows come from, in words, for data.json. Unit: none. Default: null."""
    gold: GoldSpec | None = None
    """The checks that the judge never sees; null, which kind sentences does not take, for none. Unit: none.
    Default: null."""
    topic: Text | None = None
    """What the prompts themselves ask for, in templates that have a {topic}, such as "an animal". Null: the prompts do
    not ask, and the policy learns of the criteria only through the reward. Unit: none. Default: null."""
    train_templates: FileName = "train_templates.txt"
    """Templates of the training prompts, one a line. Unit: none. Default: "train_templates.txt"."""
    heldout_templates: FileName = "heldout_templates.txt"
    """Templates of the held-out prompts. Unit: none. Default: "heldout_templates.txt"."""
    train_subjects: FileName = "subjects_train.txt"
    """Subjects filled into the training templates, one a line. Unit: none. Default: "subjects_train.txt"."""
    heldout_subjects: FileName = "subjects_heldout.txt"
    """Subjects filled into the held-out templates. Unit: none. Default: "subjects_heldout.txt"."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.kind == "sentences":
            yield from self._sentence_conflicts()
        elif self.kind == "mixture":
            yield from self._mixture_conflicts()
        elif self.path is None:
            yield Conflict(
                "path", f"kind {self.kind} reads a file, and path is null", "give path, or set kind: sentences"
            )
        if self.kind != "mixture" and self.train_rows == 0:
            yield Conflict("train_rows", f"0, or missing, with kind {self.kind}", "give at least 1 prompt for training")
        used = {
            "criteria": self.kind in ("sentences", "jsonl"),
            "mixture": self.kind == "mixture",
            "constraints": self.kind == "verif_rows",
            "rubric_from_checkers": self.kind == "verif_rows",
            "allow_benchmark": self.kind == "rubric_rows",
        }
        for key, in_use in used.items():
            if not in_use and getattr(self, key) != type(self).model_fields[key].default:
                why = "the rows bring their own rubric" if key == "criteria" else "it has no effect"
                yield Conflict(key, f"{why} with kind {self.kind}", f"remove {key}")
        yield from _rubric_conflicts(self.criteria)

    def _mixture_conflicts(self) -> Iterable[Conflict]:
        if self.mixture is None:
            yield Conflict("mixture", "null, and kind mixture mixes sets", "give mixture.sources, or another kind")
        if self.train_rows:
            yield Conflict(
                "train_rows",
                f"{self.train_rows} has no effect with kind mixture",
                "remove it; set limit of a source, or mixture.total_rows with mixture.draw: materialised",
            )
        for key, remedy in (
            ("path", "name the files in mixture.sources"),
            ("sha256", "give it beside each file in mixture.sources"),
            ("gold", "remove gold: tasks bring theirs"),
            ("topic", "remove topic"),
        ):
            if getattr(self, key) is not None:
                yield Conflict(key, "it has no effect with kind mixture", remedy)

    def _sentence_conflicts(self) -> Iterable[Conflict]:
        if self.path is not None:
            yield Conflict("path", f"{self.path!r} is not read by kind sentences", "remove path, or set kind: jsonl")
        if self.gold is None or self.gold.word_list is None:
            yield Conflict(
                "gold" if self.gold is None else "gold.word_list",
                "null: nothing would check what the judge says",
                "name a list in components/gold/words as gold.word_list",
            )
        if not self.criteria:
            yield Conflict("criteria", "there is nothing to judge", "give at least one criterion with a text")
        for key in ("train_templates", "heldout_templates"):
            name = getattr(self, key)
            # Of the user's own files only the step that reads them knows.
            plain = type(self).model_fields[key].default
            if self.topic is not None and name == plain:
                ours = plain.replace(".txt", "_topic.txt")
                yield Conflict(
                    key,
                    f"the templates of {name!r} have no {{topic}}, and topic is {self.topic!r}",
                    f"set {key}: {ours}, or topic: null",
                )
        if self.heldout_templates == self.train_templates:
            yield Conflict(
                "heldout_templates",
                f"{self.heldout_templates!r} is also train_templates: the held-out rows would not be held out",
                "name another file",
            )
        if self.heldout_subjects == self.train_subjects:
            yield Conflict(
                "heldout_subjects",
                f"{self.heldout_subjects!r} is also train_subjects: the held-out rows would not be held out",
                "name another file",
            )


def _rubric_conflicts(criteria: tuple[CriterionSpec, ...]) -> Iterable[Conflict]:
    if criteria and not any(criterion.points > 0 for criterion in criteria):
        yield Conflict(
            "criteria", "no criterion has positive points, so no reward is defined", "give one positive points"
        )
    texts: dict[str, int] = {}
    for index, criterion in enumerate(criteria):
        first = texts.setdefault(criterion.text.strip().lower(), index)
        if first != index:
            yield Conflict(
                f"criteria.{index}.text",
                f"{criterion.text!r} says the same as criterion {first}",
                "remove one of them, or raise the points of the other",
            )
