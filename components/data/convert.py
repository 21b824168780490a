"""VerIF's rows as rubric rows: the criteria are derived from the checkers, and nothing is run."""

import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.errors import ConfigError, ContractError
from components.data.checkers import derive_criteria
from components.data.faults import read_each
from components.data.rowfile import Row, object_of, read_rows
from components.data.turns import Turn, read_turns, unicode_text
from components.data.verif_rows import row_checkers

_TURNS: Final = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
_RUBRIC: Final = pa.struct([("criterion", pa.string()), ("points", pa.float64()), ("tags", pa.list_(pa.string()))])
_MODEL: Final = pa.struct([("style", pa.string()), ("rubrics", pa.list_(_RUBRIC)), ("ground_truth", pa.string())])
SCHEMA: Final = pa.schema(
    [
        ("prompt", _TURNS),
        ("data_source", pa.string()),
        ("ability", pa.string()),
        ("reward_model", _MODEL),
        ("extra_info", pa.struct([("prompt", _TURNS), ("reward_model", _MODEL), ("original_id", pa.string())])),
    ]
)
"""The columns of rubric rows. ``original_id`` is the id that VerIF's row has, as text; null without one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Converted:
    """What a file gave.

    Attributes:
        rows: rubric rows.
        left_out: places of the rows from whose checkers no criterion could be derived.
    """

    rows: Sequence[dict[str, Any]]
    left_out: Sequence[str]

    @property
    def criteria(self) -> int:
        """Criteria of all rows together."""
        return sum(len(row["reward_model"]["rubrics"]) for row in self.rows)


def convert(content: bytes, *, source: str, name: str, all_to_judge: bool) -> Converted:
    """Derive the rubric of every row.

    Args:
        content: of a file of rows with checkers and functions.
        source: its path or URL.
        name: data_source of the new rows, and value of their criteria's tag source.
        all_to_judge: whether texts of [rule] checkers become criteria too.

    Raises:
        ContractError: the file cannot be read, or rows cannot be used.
    """

    def one(row: Row) -> tuple[str, dict[str, Any] | None]:
        checkers = row_checkers(row.value, row.where)
        texts = derive_criteria([checker for checker in checkers if checker.soft or all_to_judge])
        turns = read_turns(row.value.get("prompt"), where=row.where)
        if not texts:
            return row.where, None
        made = rubric_row(turns, texts, name=name, original_id=_id(row.value))
        unicode_text(json.dumps(made, ensure_ascii=False), where=row.where)
        return row.where, made

    found = read_each(read_rows(content, source=source), one, source=source)
    return Converted([row for _, row in found if row is not None], [where for where, row in found if row is None])


def rubric_row(turns: Sequence[Turn], texts: Sequence[str], *, name: str, original_id: str | None) -> dict[str, Any]:
    """One rubric row, 1 point a criterion, with the copy under extra_info."""
    prompt = [{"role": turn.role, "content": turn.content} for turn in turns]
    tags = [f"source:{name}", "verifier:llm"]
    rubrics = [{"criterion": text, "points": 1.0, "tags": tags} for text in texts]
    model = {"style": "rubric", "rubrics": rubrics, "ground_truth": ""}
    return {
        "prompt": prompt,
        "data_source": name,
        "ability": "instruction_following",
        "reward_model": model,
        "extra_info": {"prompt": prompt, "reward_model": model, "original_id": original_id},
    }


def write_rows(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write ``rows`` as parquet or JSON lines, by the suffix, whole or not at all.

    Raises:
        ConfigError: another suffix, or there is no such folder.
        ContractError: there are no rows.
    """
    if path.suffix not in (".parquet", ".jsonl"):
        raise ConfigError(f"{path.name!r} ends with neither", where="OUT", remedy="name OUT .parquet or .jsonl")
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {path.parent}", where="OUT", remedy="create it")
    if not rows:
        raise ContractError("no row gave a criterion", where=str(path), remedy="see that IN has [llm] checkers")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows), schema=SCHEMA), partial)
    else:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _id(row: dict[str, Any]) -> str | None:
    found = row.get("id") if row.get("id") is not None else object_of(row.get("extra_info")).get("original_id")
    return None if found is None else str(found)
