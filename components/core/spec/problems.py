"""User mistakes: collected over one load, then told together in one error."""

import dataclasses
from collections.abc import Iterable, Sequence

from components.core.errors import ConfigError
from components.core.spec.places import Map, Mark, Seq


@dataclasses.dataclass(frozen=True)
class Problem:
    """One mistake.

    Attributes:
        key: dotted key, empty for a whole file.
        what: what is wrong, with the offending value.
        where: the file and line.
        remedy: what to do.
    """

    key: str
    what: str
    where: Mark
    remedy: str


def config_error(subject: str, problems: Sequence[Problem]) -> ConfigError:
    """One error for all problems; one alone uses the error's own form."""
    if len(problems) == 1:
        only = problems[0]
        return ConfigError(_headline(only), where=str(only.where), remedy=only.remedy)
    lines = [f"{len(problems)} mistakes in {subject}"]
    for number, problem in enumerate(problems, start=1):
        lines.append(f"{number}. {_headline(problem)}")
        lines.append(f"     where:  {problem.where}")
        lines.append(f"     remedy: {problem.remedy}")
    return ConfigError("\n".join(lines))


def _headline(problem: Problem) -> str:
    return f"{problem.key}: {problem.what}" if problem.key else problem.what


def mark_of(tree: Map | Seq, key: Sequence[str | int]) -> Mark:
    """Where a key stands; for a missing one, the mapping that lacks it."""
    current: object = tree
    mark = tree.mark if isinstance(tree, Map) else Mark("")
    for part in key:
        if isinstance(current, Map) and part in current:
            mark = current.marks.get(str(part), current.mark)
            current = current[str(part)]
        elif isinstance(current, Seq) and isinstance(part, int) and part < len(current):
            mark = current.marks[part]
            current = current[part]
        else:
            break
    return mark


def dotted(path: Iterable[str | int]) -> str:
    """A path as the user writes it."""
    return ".".join(str(part) for part in path)
