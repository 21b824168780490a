"""What preparing a mixture costs beside the usual way, with the library ``datasets``.

``PYTHONPATH=. python tests/bench/mixture_prep.py [--rows 150000 300000] [--rounds 1]``. The library is no dependency of
the project's own; ``pip install datasets==5.2.0`` into an environment of its own, or ``--rival PYTHON`` with one that
has it (it comes with verl, too).

Rows are generated in the official forms: GSM8K, MATH and HotpotQA as JSON lines, SQuAD 2.0 as one nested file, programs
as rows of one's own. Both sides read these files and write the same columns of the contract PROMPTS as parquet and the
rows as JSON lines, with validation apart and equal texts once. The usual way is ``load_dataset`` with ``map``,
``filter``, ``to_parquet`` and ``to_json``. "same" is ours doing just that (it writes its card and counts as well);
"ours" also looks for shared runs of 13 words and for equal programs, as is the default. Each runs in a process of its
own, one after the other; told are rows a CPU second (user and system time, without imports) and the process's highest
resident memory.

On two cores that others used as well, Python 3.11, one run: 300,000 rows, usual 1,524 rows a CPU second and 2,041 MiB,
same 10,292 and 290 MiB (6.8 times as fast), ours 8,975 and 307 MiB (5.9 times); 100,000 rows, 1,576 and 979 MiB, 9,187
and 259 MiB (5.8 times), 6,787 and 268 MiB (4.3 times; runs of words were read more than once then).
"""

import argparse
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SHARES = {"gsm8k": 0.25, "math": 0.25, "squad2": 0.29, "hotpotqa": 0.2, "custom": 0.01}
WORDS = [
    f"{a}{b}{c}" for a in "bdfglmnprst" for b in ("a", "e", "io", "ou") for c in ("n", "rel", "sto", "vin", "", "x")
]


def sentence(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words)).capitalize() + "."


def gsm8k(draw: random.Random, rows: int) -> Iterator[str]:
    for _ in range(rows):
        number = draw.randrange(10_000)
        worked = " ".join(sentence(draw, 12) for _ in range(4))
        yield json.dumps({"question": sentence(draw, 45), "answer": f"{worked}\n#### {number:,}"})


def math(draw: random.Random, rows: int) -> Iterator[str]:
    for _ in range(rows):
        solution = f"{sentence(draw, 60)} Hence $\\boxed{{\\frac{{{draw.randrange(99)}}}{{{draw.randrange(1, 99)}}}}}$."
        problem = f"{sentence(draw, 15)} $x^2+{draw.randrange(10**6)}x$ {sentence(draw, 12)}"
        yield json.dumps({"problem": problem, "level": "Level 3", "type": "Algebra", "solution": solution})


def hotpotqa(draw: random.Random, rows: int) -> Iterator[str]:
    for number in range(rows):
        context = [[sentence(draw, 2), [sentence(draw, 18) + " " for _ in range(4)]] for _ in range(10)]
        yield json.dumps(
            {
                "_id": f"{number:024x}",
                "answer": draw.choice(WORDS),
                "question": sentence(draw, 16),
                "supporting_facts": [[context[0][0], 0], [context[1][0], 1]],
                "context": context,
                "type": "bridge",
                "level": "hard",
            }
        )


def custom(draw: random.Random, rows: int) -> Iterator[str]:
    for number in range(rows):
        code = f"def f{number}(a, b):\n    total = a * {number} + b\n    return total - {draw.randrange(10**6)}\n"
        row = {"problem": sentence(draw, 12), "answer": code, "type": "code", "tests": [f"assert f{number}(0, 1) != 2"]}
        yield json.dumps(row)


def squad2(draw: random.Random, rows: int) -> Iterator[str]:
    left, number = rows, 0
    articles = []
    while left > 0:
        paragraphs = []
        for _ in range(min(40, -(-left // 6))):
            questions = []
            for _ in range(min(6, left)):
                answers = [] if draw.random() < 0.33 else [{"text": draw.choice(WORDS), "answer_start": 0}]
                questions.append(
                    {
                        "question": sentence(draw, 10),
                        "id": f"{number:024x}",
                        "answers": answers,
                        "is_impossible": not answers,
                    }
                )
                number += 1
                left -= 1
            if questions:
                paragraphs.append({"context": sentence(draw, 120), "qas": questions})
        articles.append({"title": f"Title {len(articles)}", "paragraphs": paragraphs})
    yield json.dumps({"version": "v2.0", "data": articles})


def generate(folder: Path, rows: int) -> int:
    """Write the files; returns the rows."""
    written = 0
    for name, share in SHARES.items():
        count = round(rows * share)
        maker = {"gsm8k": gsm8k, "math": math, "hotpotqa": hotpotqa, "custom": custom, "squad2": squad2}[name]
        suffix = "json" if name == "squad2" else "jsonl"
        with (folder / f"{name}.{suffix}").open("w", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in maker(random.Random(f"{name} {rows}"), count))
        written += count
    return written


def ours(folder: Path, out: Path, *, all_comparisons: bool = True) -> None:
    import pyarrow as pa

    from components.core.progress import Progress
    from components.core.spec import load_experiment
    from components.data.mixture.prepare import prepare_mixture

    files = {name: {"train": [{"path": str(next(folder.glob(f"{name}.json*")))}]} for name in SHARES}
    dedup = {} if all_comparisons else {"ngram": 0, "code_ast": False}
    data = {"name": "bench", "kind": "mixture", "heldout_rows": 1000, "mixture": {"sources": files, "dedup": dedup}}
    experiment = load_experiment("tiny", [f"data={json.dumps(data)}", "reward=rule-only"])
    # Makes it import pandas, where that is installed, as importing the library has done on the other side.
    pa.array([""])
    begin()
    with (out / "log").open("w") as log:
        prepare_mixture(experiment, out, out / "work", Progress("prepare-data", stream=log))
    end()


def usual(folder: Path, out: Path) -> None:
    import hashlib
    import re

    import datasets

    datasets.disable_progress_bars()
    boxed = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")

    def row(dataset: str, ability: str, key: str, problem: str, gold: dict, metric: str) -> dict:
        truth = json.dumps({"dataset": dataset, **gold}, sort_keys=True)
        rule = {"name": "task", "gold": truth, "metric": metric}
        rubric = [{"text": "right", "points": 1.0, "verifier": "rule", "tags": [], "rule": rule}]
        name = hashlib.sha256(f"{dataset}{key}{problem}{truth}".encode()).hexdigest()
        return {
            "prompt": [{"role": "user", "content": problem}],
            "data_source": dataset,
            "ability": ability,
            "reward_model": {"style": "task", "ground_truth": truth},
            "extra_info": {
                "id": name,
                "index": 0,
                "split": "train",
                "question": problem,
                "rubric": json.dumps(rubric),
                "template": name,
            },
        }

    def from_gsm8k(each: dict) -> dict:
        answer = each["answer"].split("####")[-1].strip()
        return row("gsm8k", "math", "", each["question"] + "\n\nWork it out.", {"answer": answer}, "exact")

    def from_math(each: dict) -> dict:
        answer = boxed.findall(each["solution"])[-1]
        return row("math", "math", "", each["problem"] + "\n\nWork it out.", {"answer": answer}, "exact")

    def from_hotpotqa(each: dict) -> dict:
        context = "\n\n".join(title + "\n" + "".join(sentences) for title, sentences in each["context"])
        problem = f"{context}\n\nQuestion: {each['question']}\nAnswer:"
        return row("hotpotqa", "qa", each["_id"], problem, {"answers": [each["answer"]]}, "f1")

    def from_custom(each: dict) -> dict:
        tests = "\n".join(each["tests"])
        return row("custom_code", "code", "", each["problem"] + "\n\n" + tests, {"tests": tests}, "exact")

    def from_squad2(batch: dict) -> dict:
        found: dict[str, list] = {}
        for article in batch["paragraphs"]:
            for paragraph in article:
                for question in paragraph["qas"]:
                    problem = f"Passage:\n{paragraph['context']}\n\nQuestion: {question['question']}\nAnswer:"
                    answers = [answer["text"] for answer in question["answers"]]
                    made = row("squad2", "qa", question["id"], problem, {"answers": answers}, "f1")
                    for key, value in made.items():
                        found.setdefault(key, []).append(value)
        return found

    makers = {"gsm8k": from_gsm8k, "math": from_math, "hotpotqa": from_hotpotqa, "custom": from_custom}
    cache = str(out / "cache")
    begin()
    parts = []
    for name, maker in makers.items():
        rows = datasets.load_dataset("json", data_files=str(folder / f"{name}.jsonl"), split="train", cache_dir=cache)
        parts.append(rows.map(maker, remove_columns=rows.column_names))
    # Its reader of JSON holds one object a file in memory whole and cannot take it in pieces, so its way is a list.
    articles = datasets.load_dataset(
        "json", data_files=str(folder / "squad2.json"), field="data", split="train", cache_dir=cache
    )
    parts.append(articles.map(from_squad2, batched=True, batch_size=10, remove_columns=articles.column_names))
    features = parts[0].features
    whole = datasets.concatenate_datasets([part.cast(features) for part in parts])
    seen: set[bytes] = set()

    def new(each: dict) -> bool:
        key = hashlib.sha256(" ".join(each["extra_info"]["question"].lower().split()).encode()).digest()
        fresh = key not in seen
        seen.add(key)
        return fresh

    whole = whole.filter(new)
    parted = whole.train_test_split(test_size=0.02, seed=1)
    for name, split in parted.items():
        split.to_parquet(str(out / f"{name}.parquet"))
        split.to_json(str(out / f"{name}.jsonl"))
    end()


_begun = 0.0


def begin() -> None:
    global _begun
    _begun = time.process_time()


def end() -> None:
    seconds = time.process_time() - _begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu_seconds": seconds, "peak_mib": peak}))


def measured(python: str, side: str, folder: Path) -> dict[str, float]:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    command = [python, __file__, "--side", side, "--folder", str(folder)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    shutil.rmtree(out)
    return dict(json.loads(answer.stdout.strip().splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[150_000, 300_000])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rival", default=sys.executable, help="a Python that has the library datasets")
    parser.add_argument("--side", choices=("ours", "same", "usual"))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.side:
        out = given.folder / "out"
        if given.side == "usual":
            usual(given.folder, out)
        else:
            ours(given.folder, out, all_comparisons=given.side == "ours")
        return
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            written = generate(folder, rows)
            ratios: dict[str, list[float]] = {"same": [], "ours": []}
            for _ in range(given.rounds):
                found = {
                    side: measured(python, side, folder)
                    for side, python in (("usual", given.rival), ("same", sys.executable), ("ours", sys.executable))
                }
                for side, figures in found.items():
                    rate = written / figures["cpu_seconds"]
                    print(f"{side:6} {written} rows  {rate:8.0f} rows a CPU second  {figures['peak_mib']:6.0f} MiB")
                for side, each in ratios.items():
                    each.append(found["usual"]["cpu_seconds"] / found[side]["cpu_seconds"])
            for side, each in ratios.items():
                print(f"ratio  {written} rows  {side}: {statistics.median(each):.1f} times as fast", flush=True)


if __name__ == "__main__":
    main()
