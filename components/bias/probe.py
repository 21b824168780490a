"""What a probe declares, and where probes are found: every module of the folder ``probes`` is one."""

import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from components.bias.mounted import NOTHING, Mounted
from components.bias.types import Item, Measure, Mode
from components.core.errors import ConfigError

_FOLDER: Final = Path(__file__).with_name("probes")
_PACKAGE: Final = "components.bias.probes"

ALL_MODES: Final = (Mode.PAIRWISE, Mode.POINTWISE, Mode.BINARY)


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """What items are wanted.

    Attributes:
        seed: of all that is drawn.
        mounted: data sets that the user mounted.
        judge: the judge's model name, for self-preference; None where no judge is known.
        family: the judge's model family; None where no judge is known.
    """

    seed: int = 0
    mounted: Mounted = NOTHING
    judge: str | None = None
    family: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Skip:
    """Why a probe, or a probe in one mode, is not run."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """One factor of a judgement.

    Attributes:
        name: the module's name.
        title: in plain words.
        measure: what its effect is.
        modes: in which a judge can be asked.
        build: all its items in a fixed order, of which any beginning is as spread over texts as can be; or why there
            are none.
        leaves_out: why it has no other modes; one sentence, empty where it has all.
        needs_mounted: whether it works with items that models wrote, which the project does not ship.
        repeats: whether forms are asked again and again.
    """

    name: str
    title: str
    measure: Measure
    modes: tuple[Mode, ...]
    build: Callable[[Request], Sequence[Item] | Skip]
    leaves_out: str = ""
    needs_mounted: bool = False
    repeats: bool = False


@functools.cache
def all_probes() -> Mapping[str, Probe]:
    """Every probe by its name, in the order of the names.

    Raises:
        ConfigError: a module of the folder declares no probe of its own name.
    """
    found: dict[str, Probe] = {}
    for name in sorted(each.name for each in pkgutil.iter_modules([str(_FOLDER)]) if not each.ispkg):
        probe = getattr(importlib.import_module(f"{_PACKAGE}.{name}"), "PROBE", None)
        if not isinstance(probe, Probe) or probe.name != name:
            raise ConfigError(
                f"the module declares no probe named {name!r}",
                where=str(_FOLDER / f"{name}.py"),
                remedy="set PROBE = Probe(name=...) as the other modules do, or move the file elsewhere",
            )
        found[name] = probe
    return found


def named(names: Sequence[str]) -> list[Probe]:
    """The probes of these names, each once, in this order; ``all`` alone stands for every one.

    Raises:
        ConfigError: there is no probe of a name, or none is named.
    """
    known = all_probes()
    wanted = list(known) if list(names) == ["all"] else list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise ConfigError(
            f"there is no probe {unknown[0]!r}" if unknown else "no probe is named",
            where="probes",
            remedy=f"name some of: {', '.join(known)}; or all",
        )
    return [known[name] for name in wanted]
