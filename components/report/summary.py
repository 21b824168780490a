"""summary.json: every headline number with its n and interval, under keys that do not change (see SUMMARY.md)."""

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from components.core.manifest import Manifest
from components.report.canaries import CanaryFindings
from components.report.evidence import Evidence
from components.report.heldout import HeldOut
from components.report.ifeval import IFEval
from components.report.panel import PanelAgreement
from components.report.reading import Reading
from components.report.rubrics import Rubrics
from components.report.settings import Judged
from components.report.training import Training

if TYPE_CHECKING:
    from components.core.spec import Experiment

SCHEMA = "gavel.report/1"


@dataclasses.dataclass(frozen=True, slots=True)
class Findings:
    """All that the report says."""

    judge: Judged
    evidence: Evidence
    heldout: HeldOut
    reading: Reading
    rubrics: Rubrics
    training: Training
    manifests: Mapping[str, Manifest]
    panel: Mapping[str, PanelAgreement] = dataclasses.field(default_factory=dict)
    ifeval: IFEval | None = None
    canaries: CanaryFindings | None = None


def build_summary(experiment: "Experiment", findings: Findings) -> dict[str, Any]:
    """The summary as plain JSON values; an unknown number is null."""
    heldout, reading, training = findings.heldout, findings.reading, findings.training
    return {
        "schema": SCHEMA,
        "experiment": json.loads(experiment.to_json()),
        "digest": experiment.digest(),
        "judge": {**plain(findings.judge), "warnings": findings.judge.warnings},
        "reward": {
            "name": experiment.reward.name,
            "combine": experiment.reward.combine,
            "protocol": experiment.reward.protocol,
            "value": experiment.reward.value,
            "constraints": experiment.data.constraints if experiment.data.kind == "verif_rows" else None,
        },
        "rubrics": plain(findings.rubrics),
        "verdict": {
            "label": reading.label.value,
            "real": reading.real,
            "hacking": reading.hacking,
            "sentences": list(reading.sentences),
            "rules": {rule.key: {"holds": rule.holds, "evidence": rule.evidence} for rule in reading.rules},
        },
        "heldout": {
            "prompts": heldout.prompts,
            "samples": dict(heldout.samples),
            "abstained": dict(heldout.abstained),
            "measures": {
                key: {**plain(comparison), "shows": reading.directions[key].value}
                for key, comparison in heldout.measures.items()
            },
            "judge_gain_parts": {key: plain(part) for key, part in heldout.parts.items()},
            "gold_by_template": plain(heldout.templates),
        },
        "training": {
            "rollouts": training.rollouts,
            "repeated": training.repeated,
            "without_score": training.without_score,
            "groups": sum(row.groups for row in training.steps),
            "masked_groups": sum(row.masked for row in training.steps),
            "flat_groups": sum(row.flat for row in training.steps),
            "abstain_reasons": dict(training.reasons),
            "totals": {key: plain(mean) for key, mean in training.totals.items()},
            "quarter_steps": training.quarter,
            "trends": {key: plain(trend) for key, trend in training.trends.items()},
            "proxy_gold_within_steps": plain(training.within_steps),
            "proxy_gold_within_groups": plain(training.within_groups),
            "parts": {key: plain(part) for key, part in training.parts.items()},
            "steps": [plain(row) for row in training.steps],
        },
        "judge_calls": {key: plain(calls) for key, calls in findings.evidence.calls.items()},
        **({"panel": {key: plain(found) for key, found in findings.panel.items()}} if findings.panel else {}),
        **({"canaries": plain(findings.canaries)} if findings.canaries is not None else {}),
        **({"ifeval": plain(findings.ifeval)} if findings.ifeval is not None else {}),
        "lineage": {key: lineage(manifest) for key, manifest in findings.manifests.items()},
    }


def to_json(summary: Mapping[str, Any]) -> str:
    """Indented, keys sorted; a NaN or infinity is refused (ValueError)."""
    return json.dumps(summary, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def headline(heldout: HeldOut) -> dict[str, float | int | None]:
    """What the step returns for the artifact's metadata."""
    gold = heldout.measures["gold"]
    return {
        "gold_base": gold.base,
        "gold_trained": gold.trained,
        "gold_gain": gold.gain,
        "low": gold.low,
        "high": gold.high,
        "n": gold.n,
    }


def plain(value: Any) -> dict[str, Any]:
    """A dataclass as JSON values, its mappings and tuples too."""
    plain: dict[str, Any] = json.loads(json.dumps(_unfold(value), allow_nan=False))
    return plain


def _unfold(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _unfold(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _unfold(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unfold(inner) for inner in value]
    return value


def lineage(manifest: Manifest) -> dict[str, Any]:
    """What a step's manifest says of where its result comes from."""
    return {
        "step": manifest.step,
        "identity": manifest.identity,
        "sha256": manifest.sha256,
        "code_version": manifest.code_version,
        "git": manifest.git.model_dump(mode="json") if manifest.git else None,
        "python": manifest.python,
        "packages": dict(manifest.packages),
        "started": manifest.started,
        "seconds": manifest.seconds,
        "inputs": {key: ref.model_dump(mode="json") for key, ref in manifest.inputs.items()},
    }
