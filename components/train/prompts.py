"""Prompts are looked at before the trainer starts, since it would notice too late or not at all."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.contracts import PROMPTS, read_table
from components.core.draw import NAME, read_plan
from components.core.errors import ConfigError, ContractError
from components.judge.rubrics import read_rubric
from components.reward.rows import check_row
from components.scaffold.rendering import check_rendering

if TYPE_CHECKING:
    from components.core.spec import Experiment


def check_scaffolded_prompts(experiment: "Experiment", model: Path, data: Path) -> None:
    """Render every training prompt with its whole rubric and without; nothing to do without a scaffold.

    Args:
        experiment: for the scaffold and the chat template.
        model: the policy's Hugging Face folder.
        data: parquet with the training prompts.

    Raises:
        ConfigError: see :func:`components.scaffold.rendering.check_rendering`.
    """
    training = experiment.training
    if training.scaffold is None:
        return
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)

    def render(messages: Sequence[Mapping[str, str]]) -> str:
        return str(
            tokenizer.apply_chat_template(
                [dict(turn) for turn in messages],
                chat_template=experiment.policy.chat_template_text,
                tokenize=False,
                add_generation_prompt=True,
            )
        )

    def count(text: str) -> int:
        return len(tokenizer(text, add_special_tokens=False)["input_ids"])

    for row in read_table(data, PROMPTS).to_pylist():
        info = row["extra_info"]
        check_rendering(
            render,
            count,
            row["prompt"],
            read_rubric(info["rubric"]),
            secret=training.scaffold.secret,
            room=training.max_prompt_tokens + training.scaffold.max_tokens,
            row_id=info["id"],
        )


def check_rewarded_rows(experiment: "Experiment", data: Path) -> None:
    """See that the reward has a number for every training row.

    Args:
        experiment: for the reward.
        data: parquet with the training prompts.

    Raises:
        ContractError: see :func:`components.reward.rows.check_row`; names the row.
    """
    for batch in read_table(data, PROMPTS).select(["extra_info"]).to_batches(max_chunksize=1024):
        for info in batch.column("extra_info").to_pylist():
            check_row(experiment.reward, read_rubric(info["rubric"]), f"{data.name}, row {info['id']}")


def check_draw(experiment: "Experiment", data: Path) -> None:
    """See that a mixture drawn by weights holds as many prompts as the training asks for, below its repeat cap; nothing
    to do for other data.

    Args:
        experiment: for steps and batch.
        data: parquet with the training prompts, beside ``draw.json``.

    Raises:
        ConfigError: it does not; what refilled groups take comes on top and is not counted here.
        ContractError: rows and plan do not fit.
    """
    mixture, training = experiment.data.mixture, experiment.training
    if mixture is None or mixture.draw != "weights":
        return
    plan = read_plan(data.with_name(NAME))
    counts = Counter(read_table(data, PROMPTS).column("data_source").to_pylist())
    if unknown := sorted(set(counts) - set(plan.domains)):
        raise ContractError(
            f"draw.json does not know the set {unknown[0]!r}", where=str(data), remedy="run the step prepare-data again"
        )
    rows = sum(counts[name] for name in plan.drawn_from())
    asked = training.steps * training.prompts_per_step
    if asked > plan.repeat_cap * rows:
        raise ConfigError(
            f"{training.steps} steps of {training.prompts_per_step} prompts draw {asked}, and {rows} rows, each at "
            f"most {plan.repeat_cap} times, give {plan.repeat_cap * rows}",
            where="training.steps",
            remedy=f"use at most {plan.repeat_cap * rows // training.prompts_per_step} steps, raise "
            "data.mixture.repeat_cap, or add rows",
        )
