"""Layer 2: what the prompts of operators begin with, by operator and domain, and for one executor model where it has
texts of its own.

In ``enhancements/<name>``, ``<domain>.yaml`` maps operators to texts. ``executors/<executor>/<domain>.yaml`` does so
for one executor model, and wins, operator by operator; null there takes a text away.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.core.errors import ConfigError
from components.core.identity import digest
from components.core.spec.fields import suggestion
from components.core.spec.places import ReadError
from components.core.spec.reader import read_file
from components.workflow.operators import REGISTRY
from components.workflow.types import Problem

if TYPE_CHECKING:
    from components.core.spec import Experiment

FOLDER: Final = Path(__file__).parent / "enhancements"
DOMAINS: Final = ("math", "code", "qa")


@dataclasses.dataclass(frozen=True, slots=True)
class Enhancer:
    """The texts of one set, for one executor model. A :data:`components.workflow.broker.broker.Enhance`.

    Attributes:
        name: of the set.
        executor: for which model.
        texts: domain -> operator -> text.
    """

    name: str
    executor: str
    texts: Mapping[str, Mapping[str, str]]

    def __call__(self, operator: str, problem: Problem) -> str | None:
        """What an operator's prompts begin with on a problem; None for nothing."""
        return self.texts.get(problem.domain, {}).get(operator)

    @property
    def digest(self) -> str:
        """Hash of the texts, hexadecimal: results depend on it."""
        return digest({domain: dict(texts) for domain, texts in self.texts.items()})


def enhancer(name: str, executor: str, folder: Path = FOLDER) -> Enhancer:
    """Read a set.

    Args:
        name: of a folder in ``enhancements``.
        executor: name of the executor model, as its specification has it.
        folder: that holds the sets.

    Raises:
        ConfigError: there is no such set, or a file of it names what there is not, or holds no texts.
    """
    own = folder / name
    known = sorted(path.name for path in folder.iterdir() if path.is_dir())
    if name not in known:
        raise ConfigError(
            f"there is no set of enhancements {name!r}", where="workflow.enhancements", remedy=suggestion(name, known)
        )
    for path in sorted(own.glob("*.yaml")) + sorted(own.glob("executors/*/*.yaml")):
        if path.stem not in DOMAINS:
            raise ConfigError(
                f"{path.stem!r} is no domain", where=_shown(path, folder), remedy=f"one of {', '.join(DOMAINS)}"
            )
    special = own / "executors" / executor if executor in _names(own / "executors") else None
    texts: dict[str, dict[str, str]] = {}
    for domain in DOMAINS:
        merged = _texts(own / f"{domain}.yaml", folder)
        if special is not None:
            merged |= _texts(special / f"{domain}.yaml", folder)
        texts[domain] = {operator: text for operator, text in merged.items() if text is not None}
    return Enhancer(name, executor, texts)


def enhancements_identity(experiment: "Experiment", folder: Path = FOLDER) -> dict[str, str]:
    """What steps that execute workflows depend on beside the set's name: ``{"enhancements": hash}`` of the texts that
    reach the executor model; empty where none do.

    Raises:
        ConfigError: see :func:`enhancer`.
    """
    spec = experiment.workflow
    if spec is None or spec.enhancements is None:
        return {}
    return {"enhancements": enhancer(spec.enhancements, spec.executor.name, folder).digest}


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def _texts(path: Path, folder: Path) -> dict[str, str | None]:
    """Operator -> text; empty where there is no file."""
    if not path.is_file():
        return {}
    shown = _shown(path, folder)
    try:
        found = read_file(path, shown)
    except ReadError as error:
        raise ConfigError(error.what, where=str(error.mark), remedy=error.remedy) from error
    if not isinstance(found, dict):
        raise ConfigError("the file is no mapping of operators to texts", where=shown, remedy='write "Custom: text"')
    for operator, text in found.items():
        if operator not in REGISTRY:
            raise ConfigError(
                f"there is no operator {operator!r}", where=shown, remedy=suggestion(str(operator), REGISTRY)
            )
        if text is not None and not (isinstance(text, str) and text.strip()):
            raise ConfigError(f"{operator}: is no text", where=shown, remedy="write a text, or null for none")
    return {str(operator): None if text is None else text.strip() for operator, text in found.items()}


def _shown(path: Path, folder: Path) -> str:
    return path.relative_to(folder.parent).as_posix()
