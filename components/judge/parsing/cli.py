"""``python -m components.judge parse FILE.jsonl``: the parser by hand, for debugging a new judge."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import GavelError, JudgeError
from components.core.unique_json import RepeatedKeyError, loads
from components.judge.parsing.reply import read_reply

_MOST = 10_000
"""Criteria of a line: more than any rubric has, and few enough to be written out."""

_SHAPE = 'write lines like {"id": "a", "reply": "...", "criteria": 3}'

_HELP = """Read lines of JSON {id, reply, criteria: N} and write {id, verdicts, reasons} for each to standard output:
verdicts holds N times met, unmet or unknown, in the order of the criteria; reasons says why for each unknown one and is
null for the others. A line may have finish: "length" when the server says that it cut the reply."""


def main(argv: Sequence[str] | None = None) -> int:
    """Parse every line of a file; returns the exit status (2 for a file without lines, or that cannot be read, or a
    wrong line)."""
    parser = argparse.ArgumentParser(prog="python -m components.judge parse", description=_HELP)
    parser.add_argument("file", help="JSON lines; - for standard input")
    chosen = parser.parse_args(argv)
    try:
        for line in parsed(chosen.file):
            print(_text(line))
    except GavelError as error:
        sys.stdout.flush()
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def parsed(file: str) -> Iterator[dict[str, Any]]:
    """One output line for every line of ``file``.

    Raises:
        JudgeError: the file cannot be read or has no lines, or a line is not {id, reply, criteria}.
    """
    found = False
    for number, line in enumerate(_lines(file), start=1):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip():
            found = True
            yield _parse(text, f"{file}, line {number}")
    if not found:
        raise JudgeError("the file has no lines", where=file, remedy=_SHAPE)


def _text(line: dict[str, Any]) -> str:
    """One line of JSON; halves of characters, which no file can hold, are escaped."""
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")


def _lines(file: str) -> Iterator[str]:
    try:
        if file == "-":
            yield from sys.stdin
            return
        with Path(file).open(encoding="utf-8") as stream:
            yield from stream
    except (OSError, ValueError) as error:
        raise JudgeError(
            f"the file cannot be read: {error}", where=file, remedy="give a UTF-8 file of JSON lines"
        ) from error


def _parse(text: str, where: str) -> dict[str, Any]:
    shape = _SHAPE
    try:
        line = loads(text)
    except RepeatedKeyError as error:
        raise JudgeError(error.what, where=where, remedy=error.remedy) from error
    except ValueError as error:
        raise JudgeError(f"not JSON: {error}", where=where, remedy=shape) from error
    except RecursionError as error:
        raise JudgeError("the line is nested too deeply", where=where, remedy=shape) from error
    if not isinstance(line, dict) or not {"id", "reply", "criteria"} <= line.keys():
        raise JudgeError("a line needs id, reply and criteria", where=where, remedy=shape)
    reply, count, finish = line["reply"], line["criteria"], line.get("finish", "stop")
    if reply is not None and not isinstance(reply, str):
        raise JudgeError(f"row {line['id']}: reply is neither text nor null", where=where, remedy=shape)
    if isinstance(count, list):
        count = len(count)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST:
        given = repr(count) if not isinstance(count, int) or abs(count) < 10**20 else "enormous"
        raise JudgeError(
            f"row {line['id']}: criteria is {given}, not a whole number from 1 to {_MOST}", where=where, remedy=shape
        )
    readings = read_reply(reply or "", range(1, count + 1), cut=finish == "length").values()
    return {
        "id": line["id"],
        "verdicts": [reading.status.value for reading in readings],
        "reasons": [None if reading.reason is None else reading.reason.value for reading in readings],
    }
