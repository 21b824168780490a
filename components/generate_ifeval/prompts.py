"""The benchmark's prompts as they are asked. Which instructions they carry is the scoring's matter."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from components.core.errors import ContractError
from components.core.faults import tell
from components.score.ifeval.lines import read_objects

SPLIT = "ifeval"


def take_lines(content: bytes, limit: int | None, where: str) -> bytes:
    """The file's first ``limit`` rows, byte by byte as they stand; the whole file without a limit.

    Raises:
        ContractError: it has fewer.
    """
    if limit is None:
        return content
    lines = [line for line in content.split(b"\n") if line.strip()]
    if len(lines) < limit:
        raise ContractError(
            f"{len(lines)} prompts are there, fewer than the {limit} asked for",
            where=where,
            remedy="lower evaluation.ifeval.limit, or set it to null",
        )
    return b"".join(line + b"\n" for line in lines[:limit])


def prompt_rows(content: bytes, *, system_prompt: str | None, where: str) -> list[dict[str, Any]]:
    """A row a prompt, with what :func:`components.generate.answers.answer` reads; the id is the key as JSON.

    Args:
        content: lines with ``key`` and ``prompt``.
        system_prompt: goes before each prompt, as in training.
        where: the file, for messages.

    Raises:
        ContractError: a line cannot be read, or has no key or prompt; or a key or a prompt stands there
            twice.
    """
    rows: dict[str, dict[str, Any]] = {}
    texts: set[str] = set()
    opening = [] if system_prompt is None else [{"role": "system", "content": system_prompt}]
    faults: list[ContractError] = []
    found = read_objects(content, source=where)
    for place, row in found:
        try:
            key, text = _key_and_prompt(row, place)
            # Scoring joins by either, so that it would refuse all responses made for such a file.
            if key in rows or text in texts:
                what = f"key {key}" if key in rows else "its prompt"
                raise ContractError(f"{what} stands in an earlier line already", where=place, remedy="keep one of both")
        except ContractError as error:
            faults.append(error)
            continue
        texts.add(text)
        rows[key] = {
            "prompt": [*opening, {"role": "user", "content": text}],
            "extra_info": {"id": key, "split": SPLIT, "question": text},
        }
    tell(faults, of=len(found), source=where)
    if not rows:
        raise ContractError("there is no prompt", where=where, remedy="give IFEval's input_data.jsonl")
    return list(rows.values())


def response_lines(rows: Sequence[dict[str, Any]]) -> bytes:
    """Responses as :mod:`components.score.ifeval` reads them: ``key``, ``prompt``, and ``response`` as a text, or as a
    list where there are several."""
    lines = []
    for row in rows:
        texts = row["responses"]
        response = texts[0] if len(texts) == 1 else list(texts)
        entry = {"key": json.loads(row["row_id"]), "prompt": row["question"], "response": response}
        lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def _key_and_prompt(row: Mapping[str, Any], where: str) -> tuple[str, str]:
    remedy = "a line is an object with key, prompt, instruction_id_list and kwargs"
    for name in ("key", "prompt"):
        if name not in row:
            raise ContractError(f"the line has no {name}", where=where, remedy=remedy)
    key, text = row["key"], row["prompt"]
    if isinstance(key, bool) or not isinstance(key, int | str) or not isinstance(text, str) or not text.strip():
        raise ContractError("key or prompt is not what it should be", where=where, remedy=remedy)
    return json.dumps(key), text
