"""The operators that there are, found by their files."""

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from components.core.errors import ConfigError
from components.workflow.operators.base.operator import Operator

_PACKAGE: Final = "components.workflow.operators"
_FOLDER: Final = Path(__file__).parents[1]


def found_in(folder: Path, package: str) -> dict[str, type[Operator]]:
    """One operator of each module of a folder, by name, in the order of the files' names.

    Raises:
        ConfigError: a module has not exactly one operator of its own, or two have one name.
    """
    found: dict[str, type[Operator]] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules([str(folder)]) if not each.ispkg):
        loaded = importlib.import_module(f"{package}.{module}")
        own = [
            each
            for each in vars(loaded).values()
            if isinstance(each, type) and issubclass(each, Operator) and each.__module__ == loaded.__name__
        ]
        if len(own) != 1 or own[0].name in found:
            names = ", ".join(each.name for each in own) or "none"
            raise ConfigError(
                f"a file of operators defines one operator with a name of its own; it defines {names}",
                where=f"{folder.name}/{module}.py",
                remedy="put what operators share into operators/base",
            )
        found[own[0].name] = own[0]
    return found


REGISTRY: Final[Mapping[str, type[Operator]]] = MappingProxyType(found_in(_FOLDER, _PACKAGE))
"""Every operator by the name under which workflows call it."""

MODULES: Final[tuple[str, ...]] = tuple(each.__module__ for each in REGISTRY.values())
"""Their modules, which no import names: a step that uses them lists these among its ``extra_modules``."""
