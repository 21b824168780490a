"""``python -m components.workflow buffer FOLDER_OR_URI``: what an experience buffer holds, and what it finds."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError
from components.models.materialize import cache_folder
from components.tasks.sets import DOMAINS
from components.workflow.buffer.embed import Embedder, build_embedder
from components.workflow.buffer.entry import Entry, problem_hash
from components.workflow.buffer.found import Contents, look
from components.workflow.buffer.view import nearest

_LINE = 70


def main(argv: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    """Print what a buffer holds; returns the exit status.

    Args:
        argv: the command's arguments.
        embedder: for ``--problem``; by default the buffer's own.

    Raises:
        StorageError: there is no buffer.
        ContractError: it is damaged.
        ConfigError: the arguments contradict each other.
    """
    parser = argparse.ArgumentParser(prog="python -m components.workflow buffer", description=__doc__)
    parser.add_argument(
        "place", help="a training's work folder, what it published, or a file:// or s3:// URL; also the file itself"
    )
    parser.add_argument("--domain", choices=DOMAINS, help="entries of this domain alone")
    parser.add_argument("--top", metavar="N", type=int, default=10, help="entries shown of each domain (10)")
    parser.add_argument("--step", metavar="S", type=int, help="what training step S saw")
    parser.add_argument("--problem", metavar="TEXT", help="the entries whose problems are most similar to this one")
    parser.add_argument("--show", action="store_true", help="with the workflows' text")
    chosen = parser.parse_args(argv)
    if chosen.top < 0:
        raise ConfigError(f"--top {chosen.top} is below 0")
    if chosen.problem is not None and not chosen.problem.strip():
        raise ConfigError("--problem is blank")
    found = look(chosen.place, step=chosen.step)
    domains = [chosen.domain] if chosen.domain else list(DOMAINS)
    print(found.where)
    print("\n".join(_summary(found, domains)))
    for domain in domains:
        entries = [entry for entry in found.entries if entry.domain == domain]
        if not entries:
            continue
        if chosen.problem is None:
            lines = [(entry, f"{entry.reward:7.4f}") for entry in entries[: chosen.top]]
            title = f"{domain}, the best {len(lines)} of {len(entries)}: reward, step, problem"
        else:
            embedder = embedder or _embedder(found)
            near = _similar(embedder, entries, chosen.problem, chosen.top)
            lines = [(entry, f"{cosine:7.4f}  {entry.reward:7.4f}") for entry, cosine in near]
            title = f"{domain}, the most similar {len(lines)} of {len(entries)}: cosine, reward, step, problem"
        print(f"\n{title}")
        for entry, figures in lines:
            print(f"{figures}  {entry.step:5}  {_shown(entry)}")
            if chosen.show:
                print("\n".join(f"    | {line}" for line in _printable(entry.workflow).split("\n")))
    return 0


def _summary(found: Contents, domains: Sequence[str]) -> list[str]:
    lines = [f"{'domain':8}{'entries':>9}{'of':>6}{'problems':>10}{'rewards':>20}{'steps':>12}"]
    for domain in domains:
        entries = [entry for entry in found.entries if entry.domain == domain]
        line = f"{domain:8}{len(entries):>9}{found.spec.capacity:>6}"
        if entries:
            rewards = f"{entries[-1].reward:.4f} to {entries[0].reward:.4f}"
            steps = [entry.step for entry in entries]
            problems = len({entry.problem_hash for entry in entries})
            line += f"{problems:>10}{rewards:>20}{f'{min(steps)} to {max(steps)}':>12}"
        lines.append(line)
    return lines


def _embedder(found: Contents) -> Embedder:
    return build_embedder(found.spec.embedder, cache_folder(Path(os.environ.get("GAVEL_STATE") or ".gavel")))


def _similar(embedder: Embedder, entries: Sequence[Entry], problem: str, k: int) -> list[tuple[Entry, float]]:
    """As training looks, so never the problem itself. Vectors are made anew: the place is only read."""
    others = [entry for entry in entries if entry.problem_hash != problem_hash(problem)]
    vectors = embedder.embed([problem, *(entry.problem for entry in others)])
    return nearest(others, list(vectors[1:]), vectors[0], k)


def _shown(entry: Entry) -> str:
    text = " ".join(entry.problem.split())
    short = text if len(text) <= _LINE else text[: _LINE - 1] + "…"
    return _printable(f"{entry.problem_id}: {short}  [{entry.workflow_hash[:8]}, {entry.judge}, {entry.executor}]")


def _printable(text: str) -> str:
    """Without what a terminal would obey: a model wrote some of it."""
    return "".join(each if each.isprintable() or each in "\n\t" else repr(each)[1:-1] for each in text)
