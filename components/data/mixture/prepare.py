"""A mixture as files: read, compared, split, mixed, written, and told about."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.manifest import Scalar, sha256_file
from components.core.progress import Progress
from components.core.step.model import NOTES
from components.data.mixture.card import build_card
from components.data.mixture.info import contaminated_rows, draw_of, info_of
from components.data.mixture.notices import notices
from components.data.mixture.plan import NAMES, Plan, plan
from components.data.mixture.reading import read_sources
from components.data.mixture.stage import Index, Stage
from components.data.mixture.wording import wording_of
from components.data.mixture.workspace import workspace
from components.data.mixture.writing import HELDOUT, TEST_INDEX, TRAIN, write_json, write_tables
from components.tasks.sets import DATASETS
from components.tasks.tables import FOLDER

if TYPE_CHECKING:
    from components.core.spec import Experiment


def prepare_mixture(experiment: "Experiment", out: Path, work: Path, progress: Progress) -> Mapping[str, Scalar]:
    """Write train.parquet, heldout.parquet, tests/, the JSON lines, draw.json, info.json, data.json, test_index.json
    and data_card.html.

    Args:
        experiment: with data of kind mixture.
        out: empty folder for the files.
        work: folder for what is not on this machine and for rows between reading and writing.
        progress: is told how far it is.

    Returns:
        What goes into the step's metadata.

    Raises:
        ConfigError: nothing is left to train on or to validate with.
        ContractError: a file is not what it should be, rows cannot be used, or the reward has no number for a row.
        StorageError: a store or the hub cannot be reached.
    """
    data = experiment.data
    mixture = data.mixture
    assert mixture is not None
    wording = wording_of(experiment)
    with workspace(work) as scratch:
        stage = Stage(scratch, mixture.dedup.ngram)
        sources = read_sources(experiment, stage, work, progress)
        index = stage.close()
        progress.phase(f"{len(index)} rows read; looking for duplicates")
        chosen = plan(mixture, index, stage.buckets, seed=experiment.seed, heldout_rows=data.heldout_rows)
        progress.phase("writing the tables")
        rows = write_tables(
            out,
            stage,
            index,
            chosen,
            seed=experiment.seed,
            system_prompt=experiment.policy.system_prompt,
            turn=wording.turn,
        )
        contaminated = _contaminated(stage, index, chosen)
    draw = draw_of(experiment, index, chosen)
    info = info_of(experiment, index, chosen, sources, contaminated)
    info["notes"] = notices(info)
    if wording.version is not None:
        info["prompts"] = {"ask_for": "workflows", "version": wording.version}
    info["outputs"] = {name: {"rows": count, "sha256": sha256_file(out / name)} for name, count in rows.items()}
    write_json(out / "draw.json", draw)
    write_json(out / "info.json", info)
    write_json(out / TEST_INDEX, _test_index(info, rows))
    write_json(out / "data.json", _summary(experiment, info))
    (out / "data_card.html").write_text(build_card(info, draw), encoding="utf-8")
    notes = [f"note: {notice}" for notice in info["notes"]]
    for note in notes:
        progress.phase(note)
    return {
        "train_rows": rows[TRAIN],
        "heldout_rows": rows[HELDOUT],
        "test_rows": int(info["test_rows"]),
        "source": data.kind,
        "split": mixture.split,
        NOTES: "\n".join(notes) or None,
    }


def _contaminated(stage: Stage, index: Index, chosen: Plan) -> dict[str, list[str]]:
    """Data set -> official ids, or ids where there are none, of official test rows that are trained on."""
    rows = contaminated_rows(index, chosen)
    found: dict[str, list[str]] = {}
    if not len(rows):
        return found
    first = 0
    for batch in stage.batches():
        here = rows[(rows >= first) & (rows < first + batch.num_rows)]
        for row in here.tolist():
            official = batch.column("official_id")[row - first].as_py()
            name = NAMES[index.dataset[row]]
            found.setdefault(name, []).append(official or batch.column("id")[row - first].as_py())
        first += batch.num_rows
    return {name: sorted(ids) for name, ids in sorted(found.items())}


def _test_index(info: Mapping[str, Any], rows: Mapping[str, int]) -> dict[str, Any]:
    """The test files: which set each is of, its rows and its content."""
    tests = {}
    for name in rows:
        if name.startswith(f"{FOLDER}/"):
            stem = Path(name).stem
            lines = f"test_{stem}.jsonl"
            known = DATASETS.get(stem)
            tests[stem] = {
                "domain": known.domain if known is not None else None,
                "title": known.title if known is not None else "Mixed",
                "metric": known.metric if known is not None else None,
                "rows": rows[name],
                "parquet": {"file": name, "sha256": info["outputs"][name]["sha256"]},
                "jsonl": {"file": lines, "sha256": info["outputs"][lines]["sha256"]},
            }
    return {"split": info["split"], "not_comparable": info["not_comparable"], "tests": tests}


def _summary(experiment: "Experiment", info: Mapping[str, Any]) -> dict[str, Any]:
    """data.json, as the other kinds of data have it."""
    data = experiment.data
    return {
        "source": data.kind,
        "name": data.name,
        "licence": data.licence or "; ".join(sorted({f"{name}: {text}" for name, text in info["licences"].items()})),
        "origin": data.origin,
        "seed": experiment.seed,
        "gold": "the official answers of each set",
        "files": {name: info["outputs"][name] for name in (TRAIN, HELDOUT)},
    }
