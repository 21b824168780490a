"""Score a file of responses."""

import hashlib
import importlib.metadata
from pathlib import Path
from typing import Any

from components.core.errors import ContractError
from components.score.ifeval.corrections import Corrections
from components.score.ifeval.evaluate import evaluate
from components.score.ifeval.prompts import read_prompts
from components.score.ifeval.responses import read_responses
from components.score.ifeval.totals import Scored, totals

PACKAGES = ("langdetect", "nltk")


def score_files(
    prompts_path: Path, responses_path: Path, *, corrected: bool = False, allow_missing: bool = False
) -> tuple[list[Scored], dict[str, Any]]:
    """Score responses against prompts.

    Args:
        prompts_path: rows as in the official file.
        responses_path: rows with a response each.
        corrected: mend the known mistakes of the official file.
        allow_missing: count a prompt without a response as not answered.

    Returns:
        The outcomes, and the summary.

    Raises:
        GavelError: a file is missing or wrong, or a package is not installed.
    """
    corrections = Corrections.read() if corrected else None
    prompts = read_prompts(prompts_path, corrections)
    if corrections is not None and not corrections.applied:
        raise ContractError(
            "none of the corrections is for a prompt of this file",
            where=str(prompts_path),
            remedy="they are for the official file; leave --corrected out",
        )
    responses = read_responses(responses_path, prompts, allow_missing=allow_missing)
    scored = []
    for prompt, answers in zip(prompts, responses, strict=True):
        if prompt.checks:
            where = f"{responses_path}, key {prompt.key}"
            outcomes = tuple(evaluate(prompt.checks, answer.text, where=where) for answer in answers)
            scored.append(Scored(prompt, answers, outcomes))
    summary = {
        **totals(scored),
        "data": "as published" if corrections is None else "corrected",
        "corrected_keys": [] if corrections is None else sorted(corrections.applied),
        "prompts_sha256": hashlib.sha256(prompts_path.read_bytes()).hexdigest(),
        "responses_sha256": hashlib.sha256(responses_path.read_bytes()).hexdigest(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
    }
    return scored, summary
