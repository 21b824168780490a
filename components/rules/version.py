"""Names of rules that change with whatever changes their verdicts."""

import functools
from typing import Final

from components.core.identity import digest, package_versions
from components.core.step.source import code_version
from components.judge.rule import Rule
from components.tasks import math_worker

_CODE: Final = {
    "word_count_range": ("components.rules.words",),
    "math_verify": ("components.rules.math_rule",),
    "python": ("components.rules.python_rule",),
    "task": ("components.rules.task_rule",),
}
_PACKAGES: Final = {"math_verify": math_worker.PACKAGES, "task": math_worker.PACKAGES}


def protocol(rule: Rule) -> str:
    """``rule/NAME/`` and 12 hex digits over the rule's arguments, our code for it and the packages that decide it."""
    return f"rule/{rule.name}/{digest([rule.to_json_value(), _behind(rule.name)])[:12]}"


@functools.cache
def _behind(name: str) -> str:
    return digest([code_version(_CODE[name]), package_versions(_PACKAGES.get(name, ()))])
