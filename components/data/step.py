"""The step prepare-data: from the experiment's data spec to two tables of prompts."""

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from components.core.contracts import PROMPTS, write_table
from components.core.errors import ConfigError
from components.core.manifest import Scalar, sha256_file
from components.core.step import Step, StepContext
from components.data.benchmark import refuse_benchmarks
from components.data.decidable import check_decidable
from components.data.describe import describe
from components.data.files import read_source
from components.data.item import Item, prompt_rows
from components.data.jsonl import read_jsonl
from components.data.reading import Reading, collect
from components.data.rubric_rows import read_rubric_rows
from components.data.sentences.source import FOLDER, sentence_items
from components.data.splitting import check_disjoint, split_items
from components.data.verif_rows import read_verif_rows
from components.gold.checks import GoldChecks
from components.gold.wordlists import word_list_path
from components.judge.rule import Rule
from components.judge.verdict import Criterion
from components.reward.rows import check_heldout_row, check_row
from components.workflow.unused import unused

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.data import CriterionSpec, DataSpec

LICENCES = {"sentences": "MIT", "jsonl": "the user's own"}
"""Where data.licence gives none; of other files nothing is known."""
LISTED = 100
"""Different criteria up to which data.json lists them all."""


def depends(experiment: "Experiment") -> object:
    """What the prompts depend on; a user's file by its content where that is known, not by where it lies. The reward
    changes no row, but refuses some. Of a workflow experiment, the prompt that describes the operators counts, too."""
    found: dict[str, object] = {
        "data": experiment.data_identity(),
        "system_prompt": experiment.policy.system_prompt,
        "accepted_by": {"combine": experiment.reward.combine, "protocol": experiment.reward.protocol},
    }
    if experiment.workflow is not None:
        # Operators are found by their files, and no import names them.
        from components.workflow.prompts.layer1 import version

        found["workflow_prompts"] = version()
    return found


def load_items(experiment: "Experiment") -> tuple[list[Item], list[Item], Reading | None]:
    """The training and the held-out items of ``experiment``, and what its file gave; None for kind sentences.

    Raises:
        ConfigError: the row counts cannot be had, the splits share something, or the rows are a benchmark's.
        ContractError: a source file is not what it should be.
    """
    data = experiment.data
    gold = None if data.gold is None else GoldChecks.parse(data.gold.model_dump(mode="json"), where="data.gold")
    reading = None
    if data.kind == "sentences":
        if gold is None:
            raise ConfigError("kind sentences has no gold", where="data.gold", remedy="give gold a word_list")
        train, heldout = (
            sentence_items(
                FOLDER / templates,
                FOLDER / subjects,
                rows,
                seed=experiment.seed,
                criteria=_criteria(data),
                gold=gold,
                topic=data.topic,
            )
            for templates, subjects, rows in (
                (data.train_templates, data.train_subjects, data.train_rows),
                (data.heldout_templates, data.heldout_subjects, data.heldout_rows),
            )
        )
    else:
        reading = read_file(data, gold)
        train, heldout = split_items(
            reading.items,
            train_rows=data.train_rows,
            heldout_rows=data.heldout_rows,
            seed=experiment.seed,
            where=str(data.path),
        )
    check_disjoint(train, heldout)
    for name in {item.gold.word_list for item in (*train, *heldout) if item.gold is not None} - {None}:
        word_list_path(str(name))
    return train, heldout, reading


def read_file(data: "DataSpec", gold: GoldChecks | None) -> Reading:
    """What the experiment's file gives.

    Args:
        data: of a kind that reads a file.
        gold: the hidden checks of rows that bring none; None for none.

    Raises:
        ConfigError: the rows are a benchmark's, and that is not allowed.
        ContractError: there is no such file, or its rows cannot be used.
    """
    source = str(data.path)
    content = read_source(source, data.sha256)
    if data.kind == "jsonl":
        items = read_jsonl(content, source=source, criteria=_criteria(data), gold=gold)
        check_decidable(items, source=source)
        return Reading(items, Counter(rows_in_file=len(items)), Counter(), Counter())
    if data.kind == "rubric_rows":
        found = read_rubric_rows(content, source=source)
    else:
        found = read_verif_rows(content, source=source, constraints=data.constraints, derive=data.rubric_from_checkers)
    reading = collect(found)
    if not data.allow_benchmark:
        refuse_benchmarks(reading.benchmarks, rows=len(found), where=source)
    check_decidable(reading.items, source=source)
    items = [dataclasses.replace(item, gold=gold) for item in reading.items]
    return dataclasses.replace(reading, items=items)


def _criteria(data: "DataSpec") -> tuple[Criterion, ...]:
    return tuple(Criterion(line.text, line.points, line.verifier, line.tags, _rule(line)) for line in data.criteria)


def _rule(line: "CriterionSpec") -> Rule | None:
    return None if line.rule is None else Rule.parse(line.rule, where="data.criteria")


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write train.parquet, heldout.parquet and data.json; of a mixture see
    :func:`components.data.mixture.prepare.prepare_mixture`.

    Raises:
        ConfigError, ContractError: as :func:`load_items`, or the reward has no number for a row.
    """
    experiment = context.experiment
    data = experiment.data
    if data.kind == "mixture":
        from components.data.mixture.prepare import prepare_mixture

        return prepare_mixture(experiment, context.out, context.work, context.progress)
    train, heldout, reading = load_items(experiment)
    files: dict[str, dict[str, object]] = {}
    for split, items in (("train", train), ("heldout", heldout)):
        path = context.out / f"{split}.parquet"
        rows = prompt_rows(items, split=split, data_source=data.name, system_prompt=experiment.policy.system_prompt)
        check = check_row if split == "train" else check_heldout_row
        for row, item in zip(rows, items, strict=True):
            info = cast(Mapping[str, object], row["extra_info"])
            line = f" ({item.where})" if item.where else ""
            check(experiment.reward, item.criteria, f"{path.name}, row {info['id']}{line}")
        write_table(path, rows, PROMPTS)
        files[path.name] = {
            "rows": len(rows),
            "templates": len({item.template for item in items}),
            "sha256": sha256_file(path),
            **describe(items),
        }
    criteria = sorted({line.text for item in (*train, *heldout) for line in item.criteria})
    summary = {
        "source": data.kind,
        "name": data.name,
        "licence": data.licence or LICENCES.get(data.kind, "not given"),
        "origin": data.origin,
        "seed": experiment.seed,
        "gold": _gold_from(data, (*train, *heldout)),
        "criteria": criteria if len(criteria) <= LISTED else f"{len(criteria)} different texts, see the rubrics",
        "file": None if reading is None else file_summary(data, reading),
        "files": files,
    }
    (context.out / "data.json").write_text(json.dumps(summary, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return {"train_rows": len(train), "heldout_rows": len(heldout), "source": data.kind}


def _gold_from(data: "DataSpec", items: Sequence[Item]) -> str | None:
    """Whose hidden checks the rows have; None where they have none."""
    default = None if data.gold is None else GoldChecks.parse(data.gold.model_dump(mode="json"), where="data.gold")
    # Checks that a row spells out as the experiment does are the experiment's.
    origins = {item.gold == default for item in items if item.gold is not None}
    if len(origins) == 2:
        return "data.gold of the experiment in some rows, their own in others"
    return {True: "data.gold of the experiment", False: "in the rows"}[origins.pop()] if origins else None


def file_summary(data: "DataSpec", reading: Reading) -> dict[str, object]:
    """What data.json tells about the file: its content, how it was read, and what was done to its rows."""
    return {
        "sha256": data.sha256,
        "constraints": data.constraints if data.kind == "verif_rows" else None,
        "rubric_from_checkers": data.rubric_from_checkers if data.kind == "verif_rows" else None,
        "data_sources": {name or "none": count for name, count in sorted(reading.data_sources.items())},
        "counts": dict(sorted(reading.counts.items())),
        "evaluation_benchmarks": dict(sorted(reading.benchmarks.items())),
    }


STEP = Step(name="prepare-data", module="components.data.step", depends=depends, run=run, unused=unused)
