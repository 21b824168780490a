"""Ways to break a good workflow: each takes a program and a source of chance, and gives a response.

A mutation that a program has no place for gives None.
"""

import ast
import io
import random
import re
import tokenize
from collections.abc import Callable, Iterator

from workflow_signatures import SIGNATURES, fenced

from components.workflow.contract.outcome import InvalidReason as Why

Chance = random.Random
Mutation = Callable[[str, Chance], str | None]
MUTATIONS: list[tuple[str, Why, Mutation]] = []


def breaks(reason: Why) -> Callable[[Mutation], Mutation]:
    def note(mutation: Mutation) -> Mutation:
        MUTATIONS.append((mutation.__name__, reason, mutation))
        return mutation

    return note


def of_tree(change: Callable[[ast.Module, Chance], object]) -> Callable[[str, Chance], str | None]:
    """A mutation of the tree; the change gives False where it has no place."""

    def mutate(source: str, chance: Chance) -> str | None:
        tree = ast.parse(source)
        if change(tree, chance) is False:
            return None
        return fenced(ast.unparse(ast.fix_missing_locations(tree)))

    mutate.__name__ = change.__name__
    return mutate


def workflow(tree: ast.Module) -> ast.ClassDef:
    return next(node for node in tree.body if isinstance(node, ast.ClassDef))


def method(tree: ast.Module, name: str) -> ast.FunctionDef:
    return next(node for node in workflow(tree).body if getattr(node, "name", "") == name)  # type: ignore[return-value]


def held(tree: ast.Module) -> dict[str, str]:
    """Attribute of self -> operator."""
    return {
        node.targets[0].attr: node.value.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
    }


def calls(tree: ast.Module) -> list[ast.Call]:
    """Calls of operators that self holds."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in held(tree)
    ]


def builds(tree: ast.Module) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "operator"
    ]


def replace(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if value is old:
                setattr(node, field, new)
            elif isinstance(value, list) and old in value:
                value[value.index(old)] = new


def statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


@breaks(Why.EMPTY)
def empty(source: str, chance: Chance) -> str:
    return chance.choice(["", " \n\t\n", f"<think>{source}</think>\n\n"])


@breaks(Why.TOO_LONG)
def too_long(source: str, chance: Chance) -> str:
    return fenced(source + "# " + "x" * chance.randint(20_000, 30_000))


@breaks(Why.NO_CODE)
def other_language(source: str, chance: Chance) -> str:
    return fenced(source).replace("```python", "```" + chance.choice(["json", "text", "bash", "yaml"]))


@breaks(Why.NO_CODE)
def prose_alone(source: str, chance: Chance) -> str:
    return "I would ask the model three times and take " + chance.choice(["the longest", "the first", "most"]) + "."


@breaks(Why.UNCLOSED_FENCE)
def cut_off(source: str, chance: Chance) -> str:
    text = fenced(source)
    return text[: chance.randint(len(text) // 3, len(text) - 3)]


@breaks(Why.TOO_COMPLEX)
def deep_brackets(source: str, chance: Chance) -> str:
    depth = chance.randint(60, 150)
    return fenced(source + f"\nDEEP = {'[' * depth}{']' * depth}")


@breaks(Why.TOO_COMPLEX)
def deep_sum(source: str, chance: Chance) -> str:
    return fenced(source + "\nDEEP = " + "-" * chance.randint(100, 3000) + "1")


def tokens(source: str, wanted: str) -> list[tuple[int, int]]:
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [each.start for each in found if each.type == tokenize.OP and each.string in wanted]


@breaks(Why.SYNTAX)
def lost_bracket(source: str, chance: Chance) -> str:
    line, column = chance.choice(tokens(source, "()[]"))
    lines = source.split("\n")
    lines[line - 1] = lines[line - 1][:column] + lines[line - 1][column + 1 :]
    return fenced("\n".join(lines))


@breaks(Why.SYNTAX)
def lost_colon(source: str, chance: Chance) -> str:
    lines = source.split("\n")
    number = chance.choice(
        [n for n, line in enumerate(lines) if re.match(r"\s*(async )?(def|class|try|if) ?.*:$", line)]
    )
    lines[number] = lines[number].rstrip(":")
    return fenced("\n".join(lines))


@breaks(Why.SYNTAX)
def lost_indentation(source: str, chance: Chance) -> str:
    lines = source.split("\n")
    number = chance.choice([n for n, line in enumerate(lines) if line.startswith("        self.")])
    lines[number] = " " * chance.choice([3, 5, 7]) + lines[number].strip()
    return fenced("\n".join(lines))


@breaks(Why.SYNTAX)
@of_tree
def break_outside(tree: ast.Module, chance: Chance) -> None:
    method(tree, "__call__").body.insert(0, statement(chance.choice(["break", "continue"])))


@breaks(Why.MODULE_STATEMENT)
@of_tree
def runs_at_import(tree: ast.Module, chance: Chance) -> None:
    text = ["print('hello')", "for i in range(3): pass", "x = str(3)", "if True: y = 1", "assert 1", "while True: pass"]
    tree.body.append(statement(chance.choice(text)))


@breaks(Why.NO_WORKFLOW)
@of_tree
def renamed_class(tree: ast.Module, chance: Chance) -> None:
    workflow(tree).name = chance.choice(["WorkFlow", "workflow", "Solver", "Workflow2"])


@breaks(Why.SECOND_CLASS)
@of_tree
def second_class(tree: ast.Module, chance: Chance) -> None:
    name = chance.choice(["Helper", "Workflow", "Base"])
    tree.body.insert(chance.choice([0, len(tree.body)]), statement(f"class {name}: pass"))


@breaks(Why.CLASS_SHAPE)
@of_tree
def bases(tree: ast.Module, chance: Chance) -> None:
    if chance.random() < 0.5:
        workflow(tree).bases = [ast.Name(chance.choice(["object", "Exception", "dict"]), ast.Load())]
    else:
        workflow(tree).body.append(statement(chance.choice(["print(1)", "x = len('abc')", "class Inner: pass"][:2])))


@breaks(Why.CONSTRUCTOR)
@of_tree
def constructor(tree: ast.Module, chance: Chance) -> None:
    one = method(tree, "__init__")
    kind = chance.randrange(4)
    if kind == 0:
        workflow(tree).body.remove(one)
    elif kind == 1:
        del one.args.args[chance.randrange(1, 4)]
    elif kind == 2:
        one.args.args[2].arg = chance.choice(["llm", "config", "model"])
    else:
        one.args.kwarg = ast.arg("more")


@breaks(Why.NO_CALL)
@of_tree
def no_call(tree: ast.Module, chance: Chance) -> None:
    one = method(tree, "__call__")
    if chance.random() < 0.5:
        one.name = chance.choice(["run", "call", "solve", "forward"])
    else:
        workflow(tree).body.remove(one)


@breaks(Why.NOT_ASYNC)
@of_tree
def not_async(tree: ast.Module, chance: Chance) -> None:
    one = method(tree, "__call__")
    plain = ast.FunctionDef(one.name, one.args, one.body, [], None)
    replace(tree, one, plain)


@breaks(Why.CALL_ARGUMENTS)
@of_tree
def call_arguments(tree: ast.Module, chance: Chance) -> None:
    given = method(tree, "__call__").args
    kind = chance.randrange(3)
    if kind == 0:
        given.args[1].arg = chance.choice(["question", "task", "text"])
    elif kind == 1:
        given.args = [*given.args[:2], ast.arg("entry_point"), ast.arg("tests")]
        given.defaults = []
    else:
        given.vararg = ast.arg("rest")


@breaks(Why.IMPORT)
@of_tree
def imports(tree: ast.Module, chance: Chance) -> None:
    text = ["import os", "import subprocess", "from socket import socket", "import operator", "from math import *"]
    text += ["import numpy as np", "from . import x", "import asyncio as aio", "from importlib import reload"]
    where = chance.choice([tree.body, method(tree, "__call__").body])
    where.insert(0, statement(chance.choice(text)))


@breaks(Why.FORBIDDEN_NAME)
@of_tree
def forbidden(tree: ast.Module, chance: Chance) -> None:
    text = ["eval('1')", "open('x')", "x = getattr(self, 'llm')", "__import__('os')", "y = self.__class__", "globals()"]
    text += ["z = (1).__reduce__", "exec('1')", "x = __builtins__", "x = ''.__class__.__mro__"]
    method(tree, "__call__").body.insert(0, statement(chance.choice(text)))


@breaks(Why.RESERVED_NAME)
@of_tree
def reserved(tree: ast.Module, chance: Chance) -> None:
    text = ["operator = 3", "create_llm = str", "OperatorError = ValueError", "for operator in []: pass"]
    method(tree, "__call__").body.insert(0, statement(chance.choice(text)))


@breaks(Why.UNDEFINED_NAME)
@of_tree
def undefined_name(tree: ast.Module, chance: Chance) -> object:
    stored = [
        node
        for node in ast.walk(method(tree, "__call__"))
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    ]
    single = [
        node.targets[0]
        for node in stored
        if sum(
            isinstance(each, ast.Name) and each.id == node.targets[0].id and isinstance(each.ctx, ast.Store)  # type: ignore[attr-defined]
            for each in ast.walk(tree)
        )
        == 1
    ]
    if not single:
        return False
    chance.choice(single).id += chance.choice(["s", "_", "1"])  # type: ignore[attr-defined]
    return True


@breaks(Why.UNDEFINED_ATTRIBUTE)
@of_tree
def undefined_attribute(tree: ast.Module, chance: Chance) -> None:
    body = method(tree, "__init__").body
    read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    lines = [line for line in body if isinstance(line, ast.Assign) and getattr(line.targets[0], "attr", "") in read]
    body.remove(chance.choice(lines))


@breaks(Why.UNDEFINED_ATTRIBUTE)
@of_tree
def misspelt_attribute(tree: ast.Module, chance: Chance) -> None:
    called = chance.choice(calls(tree)).func
    assert isinstance(called, ast.Attribute)
    called.attr += chance.choice(["s", "_", "2"])


@breaks(Why.UNKNOWN_OPERATOR)
@of_tree
def unknown_operator(tree: ast.Module, chance: Chance) -> None:
    named = chance.choice(builds(tree)).func
    assert isinstance(named, ast.Attribute)
    name = named.attr
    named.attr = chance.choice([name.lower(), name[:-1], name + "s", "Operator" + name, "Debate", "Search"])


@breaks(Why.OPERATOR_USE)
@of_tree
def operator_use(tree: ast.Module, chance: Chance) -> None:
    build = chance.choice(builds(tree))
    kind = chance.randrange(4)
    if kind == 0:
        build.args = []
    elif kind == 1:
        build.args.append(ast.Constant("more"))
    elif kind == 2:
        attribute = chance.choice(sorted(held(tree)))
        method(tree, "__call__").body.insert(0, statement(f"copied = self.{attribute}"))
    else:
        replace(tree, build, build.func)


@breaks(Why.OPERATOR_ARGUMENTS)
@of_tree
def operator_arguments(tree: ast.Module, chance: Chance) -> object:
    named = [call for call in calls(tree) if call.keywords]
    if not named:
        return False
    call = chance.choice(named)
    keyword = chance.choice(call.keywords)
    signature = SIGNATURES[held(tree)[call.func.attr]]  # type: ignore[attr-defined]
    required = {each.name for each in signature.inputs if each.required}
    kind = chance.randrange(4)
    if kind == 0:
        keyword.arg = f"{keyword.arg}_text"
    elif kind == 1:
        call.keywords.append(ast.keyword("temperature", ast.Constant(0.5)))
    elif kind == 2:
        keyword.arg = None
    elif keyword.arg in required:
        call.keywords.remove(keyword)
    else:
        return False
    return True


@breaks(Why.MISSING_AWAIT)
@of_tree
def missing_await(tree: ast.Module, chance: Chance) -> object:
    waits = [node for node in ast.walk(tree) if isinstance(node, ast.Await)]
    one = chance.choice(waits)
    replace(tree, one, one.value)
    return True


@breaks(Why.MISSING_AWAIT)
@of_tree
def dropped_call(tree: ast.Module, chance: Chance) -> None:
    call = chance.choice(calls(tree))
    method(tree, "__call__").body.insert(0, statement(f"self.{call.func.attr}({_inputs(tree, call)})"))  # type: ignore[attr-defined]


def _inputs(tree: ast.Module, call: ast.Call) -> str:
    signature = SIGNATURES[held(tree)[call.func.attr]]  # type: ignore[attr-defined]
    return ", ".join(f"{each.name}='x'" for each in signature.inputs)


def taken(tree: ast.Module) -> Iterator[ast.Constant]:
    """Keys taken out of a name that holds one operator's output."""
    names = {
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Await)
        and node.value.value in calls(tree)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names:
            assert isinstance(node.slice, ast.Constant)
            yield node.slice


@breaks(Why.OPERATOR_OUTPUT)
@of_tree
def operator_output(tree: ast.Module, chance: Chance) -> object:
    keys = list(taken(tree))
    if not keys:
        return False
    chance.choice(keys).value = chance.choice(["result_text", "respons", "Answer", "text", "final"])
    return True


@breaks(Why.NO_OPERATOR)
@of_tree
def no_operator(tree: ast.Module, chance: Chance) -> None:
    body = chance.choice(["return problem, 0.0", "return '42', self.llm.cost", "return str(len(problem)), 1"])
    for node in workflow(tree).body:
        if isinstance(node, ast.AsyncFunctionDef):
            node.body = [statement(body)]


def returns(tree: ast.Module) -> list[ast.Return]:
    return [node for node in ast.walk(method(tree, "__call__")) if isinstance(node, ast.Return)]


@breaks(Why.NO_RETURN)
@of_tree
def no_return(tree: ast.Module, chance: Chance) -> None:
    one = method(tree, "__call__")
    last = one.body[-1]
    if chance.random() < 0.5:
        one.body[-1] = ast.If(ast.parse("len(problem) > 3").body[0].value, [last], [])  # type: ignore[attr-defined]
    else:
        one.body[-1] = ast.For(ast.Name("each", ast.Store()), ast.Name("problem", ast.Load()), [last], [])


@breaks(Why.RETURN_SHAPE)
@of_tree
def return_shape(tree: ast.Module, chance: Chance) -> None:
    one = chance.choice(returns(tree))
    assert isinstance(one.value, ast.Tuple)
    answer, cost = one.value.elts
    kind = chance.randrange(6)
    if kind == 0:
        one.value = answer
    elif kind == 1:
        one.value.elts.append(ast.Constant(0))
    elif kind == 2:
        one.value = ast.Dict([ast.Constant("answer"), ast.Constant("cost")], [answer, cost])
    elif kind == 3:
        one.value.elts = [ast.Constant(None), cost]
    elif kind == 4:
        one.value.elts = [answer, ast.Constant("free")]
    else:
        one.value = None
