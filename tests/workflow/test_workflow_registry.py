"""A file is an operator: it is found, described and versioned by itself."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_executor import SUM, Model, executor

from components.core.errors import ConfigError
from components.core.step.source import reached_files
from components.workflow.broker.broker import Broker
from components.workflow.operators import MODULES, REGISTRY
from components.workflow.operators.base.registry import found_in
from components.workflow.types import Budget

SHOUT = '''"""Says it louder."""

from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator


class {name}(Operator):
    """Louder."""

    about = "Says the input louder."
    inputs = (Field("input", Kind.TEXT, "what to say"), Field("times", Kind.INTEGER, "how often", default=2, most=3))
    outputs = (Field("response", Kind.TEXT, "what was said"),)

    async def run(self, given):
        reply = await self.desk.ask(self.prompt({{"input": given.text("input")}}))
        return {{"response": (reply.upper() + "!") * given.number("times")}}
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of operators of a test's own."""
    folder = tmp_path / "own_operators"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "base").mkdir()
    (folder / "base" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.startswith("own_operators")]:
        del sys.modules[name]


def write(folder: Path, module: str, name: str, prompt: str | None = "Say {input}") -> None:
    (folder / f"{module}.py").write_text(SHOUT.format(name=name))
    if prompt is not None:
        (folder / f"{module}.txt").write_text(prompt)


async def test_a_new_file_is_an_operator_that_workflows_can_call(folder: Path) -> None:
    write(folder, "shout", "Shout")
    registry = found_in(folder, "own_operators")
    assert list(registry) == ["Shout"]
    assert registry["Shout"].describe().splitlines() == [
        'Shout(input: str, times: int = 2) -> {"response": str}',
        "  Says the input louder.",
        "  input: what to say",
        "  times: how often",
        '  -> "response": what was said',
    ]
    model = Model("hello")
    async with model.serve() as url, executor(url) as made:
        budget = Budget(calls=5, tokens=1000, seconds=10.0, bytes=1000)
        found = await Broker(made, budget, SUM, registry=registry).call("Shout", {"input": "hi"})
    assert found == {"response": "HELLO!HELLO!"}
    assert model.prompts == ["Say hi"]


def test_prompt_and_behaviour_are_in_the_version(folder: Path) -> None:
    source = SHOUT.format(name="Shout")
    made = {
        "a": (source, "Say {input}"),
        "b": (source, "Say {input}."),
        "c": (source.replace('"!"', '"?"'), "Say {input}"),
        "d": (source + "# Why it shouts.\n", "Say {input}"),
    }
    for module, (text, prompt) in made.items():
        (folder / f"{module}.py").write_text(text)
        (folder / f"{module}.txt").write_text(prompt)
    found = {each: importlib.import_module(f"own_operators.{each}").Shout.version for each in made}
    assert len({found["a"], found["b"], found["c"]}) == 3
    assert found["d"] == found["a"]
    assert found["a"].startswith("workflow/Shout@")


def test_steps_find_operators_and_prompts_for_their_code_version() -> None:
    files = {path.name for path in reached_files(("components.workflow.broker.broker", *MODULES))}
    assert {"custom.py", "custom.txt", "md_ensemble.py", "md_ensemble.txt", "asker.py", "code.py"} <= files


def test_files_that_are_no_operator_are_refused(folder: Path) -> None:
    (folder / "none.py").write_text("X = 1\n")
    with pytest.raises(ConfigError, match=r"none\.py"):
        found_in(folder, "own_operators")


def test_one_name_twice_is_refused(folder: Path) -> None:
    write(folder, "one", "Shout")
    write(folder, "two", "Shout")
    with pytest.raises(ConfigError, match=r"two\.py"):
        found_in(folder, "own_operators")


def test_an_operator_without_its_prompt_is_refused(folder: Path) -> None:
    write(folder, "shout", "Shout", None)
    with pytest.raises(ConfigError, match=r"shout\.txt"):
        found_in(folder, "own_operators")


def test_all_files_of_the_folder_are_registered() -> None:
    folder = Path(sys.modules["components.workflow.operators"].__file__ or "").parent
    modules = sorted(f"components.workflow.operators.{path.stem}" for path in folder.glob("[!_]*.py"))
    assert sorted(MODULES) == modules
    assert sorted(path.stem for path in folder.glob("*.txt")) == [name.rpartition(".")[2] for name in modules]


@pytest.mark.parametrize("operator", sorted(REGISTRY))
def test_descriptions_name_every_input_and_output(operator: str) -> None:
    kind = REGISTRY[operator]
    head, about, *lines = kind.describe().splitlines()
    assert head.startswith(f"{operator}(")
    assert about.strip()
    assert len(lines) == len(kind.inputs) + len(kind.outputs)
    assert all(line.partition(": ")[2] for line in lines)
