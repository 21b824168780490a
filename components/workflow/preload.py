"""Modules of ours in a sandbox, which finds no file of ours: their source, run ahead of every call."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from components.sandbox.warden import Prelude


def preload(modules: Sequence[ModuleType], call: str, first: str = "") -> Prelude:
    """What has the last module's function ``call`` ready.

    Args:
        modules: each after those of ours that it imports; the standard library alone otherwise.
        call: name of the function.
        first: source that is run before them, such as imports that take long.
    """
    parts = [first, "import sys, types"]
    for module in modules:
        path = Path(str(module.__file__))
        text = path.read_text(encoding="utf-8")
        parts.append(
            f"module = sys.modules[{module.__name__!r}] = types.ModuleType({module.__name__!r})\n"
            f"exec(compile({text!r}, {path.name!r}, 'exec', dont_inherit=True), module.__dict__)"
        )
    parts.append(f"{call} = module.{call}")
    return Prelude("\n".join(parts))
