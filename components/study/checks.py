"""What a study asks its judges, looked at where the probes are known: before anything is started."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.bias.mounted import Mounted
from components.bias.probe import all_probes
from components.core.errors import ContractError
from components.core.spec.fields import suggestion
from components.core.spec.problems import Problem, config_error, dotted, mark_of

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

_ALL: Final = "all"


def check_probes(study: "Study") -> None:
    """Refuse probes that there are not, and a folder of items that is not there or has none, with the place where they
    are named.

    Raises:
        ConfigError: says all of them.
    """
    problems = [*_names(study), *_mounted(study)]
    if problems:
        raise config_error(f"study {study.spec.name}", problems)


def _names(study: "Study") -> Iterable[Problem]:
    names, known = study.spec.probes.names, all_probes()
    if names == (_ALL,):
        return
    for place, name in enumerate(names):
        if name == _ALL:
            what, remedy = f"{_ALL} stands for every probe, and other names beside it", f"write [{_ALL}], or the names"
            yield _problem(study, ("names", place), what, remedy)
        elif name not in known:
            yield _problem(study, ("names", place), f"there is no probe {name!r}", f"{suggestion(name, known)}; or all")


def _mounted(study: "Study") -> Iterable[Problem]:
    folder = study.spec.probes.mounted
    # Whatever probes there are: one who names a folder counts on what is in it.
    mounted = Mounted(None if folder is None else Path(folder))
    try:
        mounted.check_there()
    except ContractError:
        remedy = "mount it, or name another; a relative path starts at the current folder"
        yield _problem(study, ("mounted",), f"there is no folder {folder}"[:300], remedy)
        return
    try:
        mounted.check()
    except ContractError as error:
        yield _problem(study, ("mounted",), f"{error.what}: {folder}"[:300], error.remedy)


def _problem(study: "Study", key: Sequence[str | int], what: str, remedy: str) -> Problem:
    path = ("probes", *key)
    return Problem(dotted(("study", *path)), what, mark_of(study.tree, path), remedy)
