"""summary.json of a mixture's report: every number of the page, under keys that do not change (see docs/mixed.md)."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from components.core.errors import ContractError
from components.core.manifest import Manifest
from components.report.canaries import CanaryFindings
from components.report.summary import lineage, plain
from components.report.tasks.agreement import Agreement
from components.report.tasks.results import Pair, Results
from components.report.tasks.rollouts import Learning
from components.report.tasks.workflows import Workflows

if TYPE_CHECKING:
    from components.core.spec import Experiment

SCHEMA: Final = "gavel.report-tasks/1"


@dataclasses.dataclass(frozen=True, slots=True)
class Findings:
    """All that the report says.

    Attributes:
        results: figures of the test sets.
        learning: of training.
        agreement: judge against gold, by domain.
        examples: kind -> answers side by side.
        mixture: the object of prepare-data's ``info.json``.
        manifests: of the earlier steps.
        workflows: of a policy that writes them; None elsewhere.
        canaries: of a training that has some; None elsewhere.
    """

    results: Results
    learning: Learning
    agreement: Mapping[str, Agreement]
    examples: Mapping[str, Sequence[Pair]]
    mixture: Mapping[str, Any]
    manifests: Mapping[str, Manifest]
    workflows: Workflows | None = None
    canaries: CanaryFindings | None = None


def read_mixture(data: Path) -> dict[str, Any]:
    """What prepare-data tells about the mixture.

    Raises:
        ContractError: there is no such file, or it is no JSON object.
    """
    path = data / "info.json"
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ContractError(f"the mixture's info.json cannot be read: {error}", where=str(path)) from error
    if not isinstance(found, dict):
        raise ContractError("the mixture's info.json is no object", where=str(path))
    return found


def build_summary(experiment: "Experiment", findings: Findings) -> dict[str, Any]:
    """The summary as plain JSON values; an unknown number is null."""
    learning = findings.learning
    return {
        "schema": SCHEMA,
        "experiment": json.loads(experiment.to_json()),
        "digest": experiment.digest(),
        "results": dict(findings.results.models),
        "comparison": dict(findings.results.comparison),
        "training": {
            **plain(learning),
            "total": {**plain(learning.total), "share_with_variance": learning.total.share},
        },
        "judge_and_gold": {
            name: {**plain(found), "agree": found.agree, "kappa": found.kappa}
            for name, found in findings.agreement.items()
        },
        **({} if findings.canaries is None else {"canaries": plain(findings.canaries)}),
        **({} if findings.workflows is None else {"workflows": plain(findings.workflows)}),
        "mixture": dict(findings.mixture),
        "lineage": {key: lineage(manifest) for key, manifest in findings.manifests.items()},
    }


def headline(findings: Findings) -> dict[str, float | int | None]:
    """What the step returns for the artifact's metadata."""
    found: dict[str, float | int | None] = {"groups_with_variance": findings.learning.total.share}
    if findings.workflows is not None:
        found["valid_workflows"] = findings.workflows.valid["all"].value
    for model, result in findings.results.models.items():
        found |= {f"{model}_{name}": mean["value"] for name, mean in result["means"].items()}
    return found
