"""The files of a scoring, and its table."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.score.ifeval.totals import Scored

METRICS = ("Pr_S", "Ins_S", "Pr_L", "Ins_L")


def write(folder: Path, scored: Sequence[Scored], summary: Mapping[str, Any]) -> None:
    """Write eval_results_strict.jsonl and eval_results_loose.jsonl, in the published columns, and then summary.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for criterion in ("strict", "loose"):
        lines = (json.dumps(row, ensure_ascii=False) for row in _rows(scored, criterion))
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"eval_results_{criterion}.jsonl").write_text(text, encoding="utf-8")
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def table(summary: Mapping[str, Any]) -> str:
    """Accuracies in percent for a terminal."""
    metrics = "  ".join(f"{name.replace('_', '('):>5})" for name in METRICS)
    values = "  ".join(f"{100 * summary[name]:6.2f}" for name in METRICS)
    lines = [metrics, values, "", "Papers also print the order Pr(S) Pr(L) Ins(S) Ins(L): compare by name.", ""]
    if summary["Pr_S_standard_error"] is not None:
        strict, loose = 100 * summary["Pr_S_standard_error"], 100 * summary["Pr_L_standard_error"]
        lines.append(f"standard error over prompts: Pr(S) {strict:.2f}, Pr(L) {loose:.2f}")
    lines.append(
        f"{summary['prompts']} prompts, {summary['instructions']} instructions, {summary['responses']} responses; "
        f"reasoning removed from {summary['reasoning_removed']}, no answer in {summary['no_answer']} "
        f"(unfinished reasoning {summary['unfinished_reasoning']}, missing {summary['missing']})"
    )
    lines.append(
        f"followed only because the language could not be told: {summary['language_not_detected']} "
        f"(counted as published); data: {summary['data']}"
    )
    lines += ["", f"{'type':44} {'n':>4} {'strict':>7} {'loose':>7}"]
    for part in ("by_category", "by_type"):
        lines += [
            f"{name:44} {one['instructions']:4} {100 * one['strict']:7.2f} {100 * one['loose']:7.2f}"
            for name, one in summary[part].items()
        ]
    return "\n".join(lines)


def _rows(scored: Sequence[Scored], criterion: str) -> Iterable[dict[str, Any]]:
    for one in scored:
        for response, outcome in zip(one.responses, one.outcomes, strict=True):
            followed = outcome.strict if criterion == "strict" else outcome.loose
            yield {
                "prompt": one.prompt.text,
                "response": response.text,
                "instruction_id_list": list(one.prompt.kinds),
                "follow_all_instructions": all(followed),
                "follow_instruction_list": list(followed),
            }
