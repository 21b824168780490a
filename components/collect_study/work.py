"""Everything that a study found becomes one object and one page."""

import importlib.metadata
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.bias.study_result import Lineage, Skipped, StudyResult
from components.collect_study.arms import arm_results, crossings, wins
from components.collect_study.costs import abstentions, costs
from components.collect_study.findings import findings
from components.collect_study.found import Files, Found, find_all
from components.collect_study.heldout import heldout_decisions
from components.collect_study.judges import CORRECTION, detectable, judges
from components.collect_study.probed import all_probed
from components.core.identity import digest
from components.core.manifest import Scalar
from components.core.spec.study import ENOUGH_ITEMS, ENOUGH_SEEDS
from components.core.spec.study_load import load_study
from components.core.step import Step, StepContext
from components.core.step.execute import perform
from components.study.records import Left, read_file
from components.study.scoring import label
from components.study_report.write import PAGE, write_report

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

CONFIDENCE: Final = 0.95
_PACKAGES: Final = ("verl", "torch", "transformers", "scipy", "kfp")


def report_step(text: str, found: Found) -> Step:
    """The step for one study and what is there of it.

    Args:
        text: of the study.
        found: its records.
    """

    def run(context: StepContext) -> Mapping[str, Scalar]:
        files = Files(context.store_url, context.work / "files")
        return write_report(collected(load_study(text), found, files), context.out)

    return Step(
        name="study-report",
        module="components.collect_study.work",
        depends=lambda experiment: {"study": digest(text), "found": found.hashes()},
        run=run,
        packages=("scipy",),
    )


def publish_report(text: str, store: str) -> Left:
    """Collect and write the report of a study as far as it got, or find it written.

    Raises:
        GavelError: a record or a table is not what it should be.
    """
    study = load_study(text)
    experiment = study.arms[0].experiment.model_copy(update={"name": study.spec.name})
    published = perform(report_step(text, find_all(study, store)), experiment, store, {})
    return Left(published.uri, published.sha256)


def collected_report(study: "Study", store: str, folder: Path) -> Path:
    """As :func:`publish_report`, with a copy where a browser can open it; returns the page's path.

    Raises:
        GavelError: see there.
    """
    left = publish_report(study.text, store)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("study.json", PAGE):
        (folder / name).write_bytes(read_file(store, left, name))
    return folder / PAGE


def collected(study: "Study", found: Found, files: Files) -> StudyResult:
    """The study's result, as far as it got.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    spec = study.spec
    held = heldout_decisions(study, found, files)
    probed, skipped = all_probed(study, found, files)
    told = judges(study, probed, held, CONFIDENCE)
    arms = arm_results(study, found, files, CONFIDENCE)
    # Arms say of themselves what became of them.
    skipped += [
        Skipped(
            what=f"scores of arm {name} by judge {label(study, study.arm(scorer))}",
            reason=why.reason,
            failed=why.failed,
        )
        for (name, scorer), why in found.uncrossed.items()
    ]
    return StudyResult(
        name=spec.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        quick=spec.probes.items < ENOUGH_ITEMS or len(spec.seeds) < ENOUGH_SEEDS,
        limits=tuple(_limits(study)),
        confidence=CONFIDENCE,
        alpha=spec.probes.alpha,
        correction=CORRECTION,
        seed=spec.seeds[0],
        judges=tuple(told),
        detectable=tuple(detectable(study)),
        arms=tuple(arms),
        crossings=tuple(crossings(study, found, files, CONFIDENCE)),
        findings=findings(study, probed, told, arms, wins(study, found, files), held, CONFIDENCE),
        costs=tuple(costs(found, files)),
        abstained=tuple(abstentions(study, found, files, CONFIDENCE)),
        skipped=tuple(skipped),
        configuration=study.text,
        versions={name: importlib.metadata.version(name) for name in _installed()},
        lineage=tuple(
            Lineage(name=f"{name}: {step}", identity=record.identity, uri=left.uri, sha256=left.sha256)
            for name, record in {**found.probes, **found.arms}.items()
            for step, left in record.results.items()
        ),
    )


def _limits(study: "Study") -> list[str]:
    spec, told = study.spec, []
    if spec.probes.items < ENOUGH_ITEMS:
        told.append(
            f"{spec.probes.items} items a probe find large effects alone; a study takes {ENOUGH_ITEMS} and more."
        )
    if len(spec.seeds) < ENOUGH_SEEDS:
        seeds = f"{len(spec.seeds)} seed{'' if len(spec.seeds) == 1 else 's'}"
        told.append(
            f"With {seeds} an arm's outcome cannot be told from chance between runs; a study takes {ENOUGH_SEEDS} and "
            "more."
        )
    if any(arm.experiment.policy.source.kind == "tiny" for arm in study.arms):
        told.append("The policy is a random model that writes gibberish: its drift shows the instrument, not a judge.")
    return told


def _installed() -> list[str]:
    known = {str(each.name).lower() for each in importlib.metadata.distributions() if each.name}
    return [name for name in _PACKAGES if name in known]
