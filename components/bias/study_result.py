"""What a study found, whole: ``study.json``, which the report is made from.

Statistics and pipeline fill it, the report reads it; nothing in it is computed here. Every number is an
:class:`~components.bias.estimate.Estimate`, with its n and interval, or a count.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from components.bias.estimate import Estimate, Frozen
from components.bias.result_arms import Arm, Crossing
from components.bias.result_findings import Findings
from components.bias.result_judges import Detectable, Judge
from components.core.errors import ContractError

FILE = "study.json"


class Skipped(Frozen):
    """Something the study was asked for and does not have."""

    what: str
    """Such as ``probe self_preference``; an arm has its own state and reason."""
    reason: str = Field(min_length=1)
    failed: bool = False
    """True where it was tried and failed, False where it could not be tried."""


class Cost(Frozen):
    """What the judge calls of one part of the study took."""

    part: str
    """Such as ``probes``, ``training``, ``cross-judge``."""
    arm: str = ""
    """Name of the arm; empty for what belongs to none."""
    judge: str
    calls: int = Field(ge=0)
    """Questions put, those answered from the cache included."""
    cached: int = Field(default=0, ge=0)
    """Of these, answered from the cache."""
    requests: int = Field(ge=0)
    """HTTP requests sent, repetitions included."""
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    seconds: float = Field(ge=0)
    """Call time added up; calls overlap."""
    money: Mapping[str, float] = Field(default_factory=dict)
    """Currency -> sum by the price table; empty where no price is known."""


class Abstained(Frozen):
    """How often a judge gave no verdict, in one part of the study."""

    part: str
    arm: str = ""
    judge: str
    share: Estimate
    """Of the judgements, those without a value."""
    reasons: Mapping[str, int] = Field(default_factory=dict)
    """Reason -> judgements."""


class Lineage(Frozen):
    """Where the numbers came from."""

    name: str
    """Of the step or arm."""
    identity: str
    uri: str = ""
    sha256: str = ""
    seconds: float | None = Field(default=None, ge=0)
    """Wall time of the work; None where it is not recorded."""


class StudyResult(Frozen):
    """A study."""

    version: Literal[1] = 1
    name: str
    description: str = ""
    created: str
    """UTC, ISO 8601."""
    quick: bool = False
    """A study so small that it shows that everything works, and little else."""
    limits: tuple[str, ...] = ()
    """What such a study cannot show, a sentence each."""
    summary: tuple[str, ...] = ()
    """Sentences in plain words that stand before the report's own."""
    confidence: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of every interval."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """Error rate at which an effect is flagged, after the correction."""
    correction: str
    """Such as ``Holm over all probes and modes of a judge``: the one that ``flagged`` follows."""
    seed: int
    judges: tuple[Judge, ...] = ()
    detectable: tuple[Detectable, ...] = ()
    """Smallest effects that the study could find, told before it asked."""
    arms: tuple[Arm, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    """Each arm's policy as each judge scores it."""
    findings: Findings = Findings()
    costs: tuple[Cost, ...] = ()
    abstained: tuple[Abstained, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    configuration: str = ""
    """The study's YAML, as resolved."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """Package -> version."""
    lineage: tuple[Lineage, ...] = ()

    def judge(self, name: str) -> Judge | None:
        """A judge by name."""
        return next((judge for judge in self.judges if judge.name == name), None)


def write_study(path: Path, study: StudyResult) -> None:
    """Write ``study`` as JSON, whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(study.model_dump_json(indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def read_study(path: Path) -> StudyResult:
    """Read what :func:`write_study` wrote.

    Raises:
        ContractError: the file is missing or is no study.
    """
    try:
        return StudyResult.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise ContractError("there is no study", where=str(path), remedy="run `make study`") from error
    except OSError as error:
        raise ContractError(
            f"it cannot be read: {error.strerror}", where=str(path), remedy="name the file study.json"
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise ContractError(
            f"not a study's result: {place}: {first['msg']}", where=str(path), remedy="run the study again"
        ) from error


__all__ = [
    "FILE",
    "Abstained",
    "Arm",
    "Cost",
    "Crossing",
    "Detectable",
    "Estimate",
    "Findings",
    "Judge",
    "Lineage",
    "Skipped",
    "StudyResult",
    "read_study",
    "write_study",
]
