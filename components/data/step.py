"""The step prepare-data: from the experiment's data spec to two tables of prompts."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.contracts import PROMPTS, write_table
from components.core.manifest import sha256_file
from components.core.step import Step, StepContext
from components.data.files import read_source
from components.data.item import Item, prompt_rows
from components.data.jsonl import read_jsonl
from components.data.sentences.source import FOLDER, sentence_items
from components.data.splitting import check_disjoint, split_items
from components.gold.checks import GoldChecks
from components.gold.wordlists import word_list_path
from components.judge.rule import Rule
from components.judge.verdict import Criterion

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.data import CriterionSpec

LICENCES = {"sentences": "MIT", "jsonl": "the user's own"}


def depends(experiment: "Experiment") -> object:
    """What the prompts depend on; a user's file by its content where that is known, not by where it lies."""
    return {"data": experiment.data_identity(), "system_prompt": experiment.policy.system_prompt}


def load_items(experiment: "Experiment") -> tuple[list[Item], list[Item]]:
    """The training and the held-out items of ``experiment``.

    Raises:
        ConfigError: the row counts cannot be had, or the splits share something.
        ContractError: a source file is not what it should be.
    """
    data = experiment.data
    criteria = tuple(Criterion(line.text, line.points, line.verifier, line.tags, _rule(line)) for line in data.criteria)
    gold = GoldChecks.parse(data.gold.model_dump(mode="json"), where="data.gold")
    if data.kind == "jsonl":
        source = str(data.path)
        train, heldout = split_items(
            read_jsonl(read_source(source, data.sha256), source=source, criteria=criteria, gold=gold),
            train_rows=data.train_rows,
            heldout_rows=data.heldout_rows,
            seed=experiment.seed,
            where=source,
        )
    else:
        train, heldout = (
            sentence_items(
                FOLDER / templates,
                FOLDER / subjects,
                rows,
                seed=experiment.seed,
                criteria=criteria,
                gold=gold,
                topic=data.topic,
            )
            for templates, subjects, rows in (
                (data.train_templates, data.train_subjects, data.train_rows),
                (data.heldout_templates, data.heldout_subjects, data.heldout_rows),
            )
        )
    check_disjoint(train, heldout)
    for name in {item.gold.word_list for item in (*train, *heldout)} - {None}:
        word_list_path(str(name))
    return train, heldout


def _rule(line: "CriterionSpec") -> Rule | None:
    return None if line.rule is None else Rule.parse(line.rule, where="data.criteria")


def run(context: StepContext) -> Mapping[str, str | int]:
    """Write train.parquet, heldout.parquet and data.json."""
    experiment = context.experiment
    train, heldout = load_items(experiment)
    data = experiment.data
    files: dict[str, dict[str, object]] = {}
    for split, items in (("train", train), ("heldout", heldout)):
        path = context.out / f"{split}.parquet"
        rows = prompt_rows(items, split=split, data_source=data.name, system_prompt=experiment.policy.system_prompt)
        write_table(path, rows, PROMPTS)
        files[path.name] = {
            "rows": len(rows),
            "templates": len({item.template for item in items}),
            "sha256": sha256_file(path),
        }
    summary = {
        "source": data.kind,
        "name": data.name,
        "licence": LICENCES[data.kind],
        "seed": experiment.seed,
        "criteria": sorted({line.text for item in (*train, *heldout) for line in item.criteria}),
        "files": files,
    }
    (context.out / "data.json").write_text(json.dumps(summary, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return {"train_rows": len(train), "heldout_rows": len(heldout), "source": data.kind}


STEP = Step(name="prepare-data", module="components.data.step", depends=depends, run=run)
