"""``python -m components.bias rewrite``: items that a model writes, in the formats that ``probe --mounted`` reads."""

import argparse
import asyncio
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from components.bias.arguments import make_output
from components.bias.corpus import Text, texts
from components.bias.rewrite import Rewriting, rewritings
from components.core.errors import StepError
from components.core.services.state import state_folder
from components.judge.chat import Chat

PROMPTS: Final[Mapping[str, str]] = {"responses": "rewrite", "refinements": "refine"}
GOOD: Final = 1
WORSE: Final = 0
_AT_ONCE: Final = 64
"""Texts whose rewritings are asked for together; the engine keeps the model's own limits."""


def main(argv: Sequence[str]) -> int:
    """Ask, say what was dropped and why, and write the file; where nothing is kept, there is none to write.

    Raises:
        StepError: no text of the model is kept; no file is written, and one that is there stays as it is.
        GavelError: the configuration is wrong, or the model cannot be asked.
    """
    from components.core.identity import canonical_json
    from components.core.spec.single import load_judge
    from components.judge.answering import must_answer
    from components.judge.build import build_chat
    from components.judge.check_cli import at_endpoint
    from components.judge.memory import Ledger
    from components.judge.memory.shipping import LEDGER

    options = _parser().parse_args(argv)
    spec = load_judge(options.model, options.overrides)
    make_output(options.output)
    with at_endpoint(spec, options.endpoint) as url, Ledger(options.output / LEDGER) as ledger:
        asyncio.run(must_answer(spec, url))
        chat = build_chat(spec, url, ledger, state=state_folder(), identity=canonical_json(spec.identity()))
        written = asyncio.run(_ask(chat, options.kind, options.draws))
    kept = sum(each.text is not None for _, _, found in written for each in found)
    dropped = Counter(each.reason for _, _, found in written for each in found if each.text is None)
    print(f"{kept} texts of {len({text.text_id for text, _, found in written if any(each.text for each in found)})}")
    print(f"dropped: {', '.join(f'{count} {reason}' for reason, count in dropped.most_common()) or 'none'}")
    if not kept:
        # A file without a line would be mounted as one that holds something.
        raise StepError(
            f"none of {sum(dropped.values())} {options.kind} is kept, so that no file is written",
            where=f"model {spec.name}",
            remedy=f"what the model said is in {options.output / LEDGER}; mend what most are dropped for, or name "
            "another model",
        )
    lines = list(_lines(options.kind, written, spec.model_name, spec.family))
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", spec.model_name).strip("-.")
    path = options.output / f"{options.kind}-{name}.jsonl"
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    os.replace(partial, path)
    print(f"they are in {path}")
    return 0


Written = tuple[Text, int, list[Rewriting]]
"""A text, whether its good or its worse answer was given, and what became of it in each draw."""


async def _ask(chat: Chat, kind: str, draws: int) -> list[Written]:
    given = [(text, quality) for text in texts() for quality in (GOOD, WORSE)]
    answers = [text.good if quality == GOOD else text.worse for text, quality in given]
    found: list[list[Rewriting]] = [[] for _ in given]
    try:
        for draw in range(draws):
            for begin in range(0, len(answers), _AT_ONCE):
                # As with repeated probes, the first draw has no name of its own.
                name = f"draw {draw}" if draw else ""
                got = await rewritings(answers[begin : begin + _AT_ONCE], chat, PROMPTS[kind], name)
                for place, each in enumerate(got, start=begin):
                    found[place].append(_new(each, found[place]))
    finally:
        await chat.close()
    return [(text, quality, each) for (text, quality), each in zip(given, found, strict=True)]


def _new(each: Rewriting, before: Sequence[Rewriting]) -> Rewriting:
    """A draw that says what an earlier one said is no further text."""
    told = each.text is not None and each.text in {one.text for one in before}
    return Rewriting(None, "drawn_before") if told else each


def _lines(kind: str, written: Sequence[Written], model: str, family: str) -> Iterator[dict[str, Any]]:
    for text in dict.fromkeys(text.text_id for text, _, _ in written):
        mine = [each for each in written if each[0].text_id == text]
        about, known = mine[0][0], [(q, one.text) for _, q, found in mine for one in found if one.text is not None]
        head = {"text_id": about.text_id, "question": about.question, "criteria": list(about.criteria)}
        if kind == "responses" and known:
            responses = [
                {"model": model, "family": family, "text": told, "quality": quality} for quality, told in known
            ]
            yield {**head, "responses": responses}
        if kind == "refinements":
            for quality, told in known:
                draft = about.good if quality == GOOD else about.worse
                yield {**head, "draft": draft, "refined": told, "family": family}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m components.bias rewrite",
        description="Have a model put the project's own answers into its words, good and worse ones: items for the "
        "probes self_preference and family_preference (responses) or refinement (refinements).",
    )
    parser.add_argument("--model", required=True, help="a name in configs/judges, or the path of a YAML file")
    parser.add_argument("--kind", choices=sorted(PROMPTS), default="responses", help="what is written")
    parser.add_argument("--draws", type=_count, default=2, help="times that each answer is asked for; default 2")
    parser.add_argument("--endpoint", help="base URL without /v1; default: where the model runs here")
    parser.add_argument("--output", type=Path, required=True, help="folder for the items and the ledger")
    parser.add_argument(
        "overrides", nargs="*", metavar="key=value", help="the model's own keys, such as temperature=0.7"
    )
    return parser


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of draws from 1 to 100")
    return int(text)
