"""How many prompts a CPU second IFEval is scored at, beside the published checkers.

``PYTHONPATH=. python tests/bench/ifeval.py [--prompts input_data.jsonl] [--samples 8] [--mix all|following]``

The rival is what people install: the checkers of google-research as the package if-verifiable has them, in one process
like ours, with the same NLTK and the same sentence model. Both have their models loaded before the clock starts, and
both build a prompt's checks within it. Left out on both sides: reading and writing files, reasoning, totals. Agreement
is not looked at here, tests/score/ifeval/test_ifeval_agreement.py does that.

On the official 541 prompts with 5 responses each, shared cores, Python 3.11, NLTK 3.10.4: ``all`` 48 prompts per CPU
second against 260 (5.4 times), ``following`` 36 against 199 (5.6 times). Longer responses gave 6.1 and 6.4 times, and
text whose sentences come again gave more (6.8 and 8.3), since our caches then find them.

Without --prompts the prompts of our own beside the tests are repeated, with other responses, until there are 541.
``following`` has only responses meant to follow, ``all`` also others and single lines at the edges.
"""

import argparse
import json
import logging
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import langdetect
import nltk
from if_verifiable.common import evaluate_instructions
from if_verifiable.ifeval import INSTRUCTION_DICT

from components.score.ifeval.evaluate import evaluate
from components.score.ifeval.registry import build_check
from components.score.ifeval.sentences import model_folder, read_model

TESTS = Path(__file__).parents[1] / "score" / "ifeval"
sys.path.insert(0, str(TESTS))
import made_responses  # noqa: E402

PROMPTS = 541
FREQUENT = re.findall(
    r"\S+", "the of and to in a is that for it as was with be by on not at are this but have they, which,"
)
WARM_UP = {
    "length_constraints:number_sentences": {"relation": "at least", "num_sentences": 1},
    "change_case:english_lowercase": {},
    "change_case:capital_word_frequency": {"capital_relation": "at least", "capital_frequency": 1},
}
Row = dict[str, Any]
Work = list[tuple[Row, list[str]]]


def ours(row: Row, responses: list[str]) -> None:
    pairs = zip(row["instruction_id_list"], row["kwargs"], strict=True)
    checks = [build_check(kind, kwargs) for kind, kwargs in pairs]
    for response in responses:
        evaluate(checks, response)


def theirs(row: Row, responses: list[str]) -> None:
    for response in responses:
        evaluate_instructions(response, row["instruction_id_list"], row["kwargs"], row["prompt"], INSTRUCTION_DICT)


def seconds(score: Callable[[Row, list[str]], None], work: Work) -> float:
    warm = {"prompt": "", "instruction_id_list": list(WARM_UP), "kwargs": list(WARM_UP.values())}
    score(warm, ["warm up. so i think."])
    start = time.process_time()
    for row, responses in work:
        score(row, responses)
    return time.process_time() - start


def prose(draw: random.Random) -> list[str]:
    """Sentences of many different words, the frequent ones often: sentences that come again would favour our caches."""
    rows = read_model(model_folder())["ortho_context.tab"].splitlines()
    words = sorted({row.split("\t")[0] for row in rows} - {""})
    draw.shuffle(words)
    sentences = []
    for _ in range(30_000):
        chosen = [
            draw.choice(FREQUENT) if draw.random() < 0.45 else words[int(draw.paretovariate(0.3)) % len(words)]
            for _ in range(draw.randint(5, 22))
        ]
        joined = " ".join(chosen)
        sentences.append(joined[0].upper() + joined[1:] + draw.choice("....!?"))
    return sentences


def made(rows: list[Row], samples: int, mix: str) -> Work:
    draw = random.Random(0)
    sentences = prose(draw)
    work = []
    for place in range(max(PROMPTS, len(rows))):
        row = rows[place % len(rows)]
        kinds, kwargs = row["instruction_id_list"], row["kwargs"]
        if mix == "following":
            responses = [made_responses.following(kinds, kwargs, draw, sentences) for _ in range(samples)]
        else:
            responses = made_responses.responses(kinds, kwargs, samples, draw, sentences)
        work.append((row, responses))
    return work


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prompts", type=Path, default=TESTS / "prompts.jsonl")
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--mix", choices=("all", "following"), action="append")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # the rival logs every text without a language
    nltk.data.path.insert(0, str(model_folder().parents[2]))
    langdetect.DetectorFactory.seed = 0
    rows = [json.loads(line) for line in options.prompts.read_text(encoding="utf-8").splitlines()]
    for mix in options.mix or ("all", "following"):
        work = made(rows, options.samples, mix)
        characters = sum(len(text) for _, texts in work for text in texts) / len(work) / options.samples
        rival, own = seconds(theirs, work), seconds(ours, work)
        print(
            f"{mix:10} {len(work)} prompts x {options.samples} responses of {characters:.0f} characters: "
            f"published checkers {len(work) / rival:7.1f} prompts per CPU second ({rival:.1f} s), "
            f"ours {len(work) / own:7.1f} ({own:.1f} s), {rival / own:.1f} times as many",
            flush=True,
        )


if __name__ == "__main__":
    main()
