"""The sandbox's side of one execution: the program, and stand-ins for operators that hand each call out.

Standard library alone. Whatever the program does to this module, it can only say other things on its socket, and what
is said there is believed by nobody: names, arguments and budget are looked at outside, where the meter is as well.
"""

import asyncio
import itertools
import json
import math
import os
import sys
import types
import warnings
from typing import Any, Final

_DESCRIPTOR: Final = 4
_CHUNK: Final = 1 << 16


class OperatorError(Exception):
    """An operator gave nothing. ``reason`` is one word, the message is for people."""

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(f"{reason}: {what}")
        self.reason = reason


class Link:
    """Calls over the socket, many at once: each message is its length in 4 bytes, and JSON."""

    def __init__(self) -> None:
        self.tokens = 0
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._got = bytearray()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, operator: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What the operator returns.

        Raises:
            OperatorError: it gave nothing.
            TypeError, ValueError: an argument is no JSON value.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(_DESCRIPTOR, self._read)
        number = next(self._numbers)
        message = {"id": number, "operator": operator, "arguments": arguments}
        data = json.dumps(message, allow_nan=False).encode("ascii")
        future = self._waiting[number] = self._loop.create_future()
        left = memoryview(len(data).to_bytes(4, "big") + data)
        while left:
            left = left[os.write(_DESCRIPTOR, left) :]
        reply = await future
        self.tokens = max(self.tokens, reply["tokens"])
        if "error" in reply:
            raise OperatorError(*reply["error"])
        outputs: dict[str, Any] = reply["outputs"]
        return outputs

    def _read(self) -> None:
        data = os.read(_DESCRIPTOR, _CHUNK)
        if not data:
            # Whoever is outside has ended this execution, and will end this process.
            os._exit(1)
        self._got += data
        while len(self._got) >= 4:
            size = int.from_bytes(self._got[:4], "big")
            if len(self._got) < 4 + size:
                return
            reply = json.loads(self._got[4 : 4 + size])
            del self._got[: 4 + size]
            waiting = self._waiting.pop(reply["id"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(reply)


class Model:
    """The handle that operators are built with: the executor model itself is outside."""

    def __init__(self, link: Link) -> None:
        self._link = link

    @property
    def cost(self) -> int:
        """Tokens that this execution has taken so far, as the meter outside counts them."""
        return self._link.tokens


def _stand_in(link: Link, name: str, inputs: list[str]) -> type:
    def build(self: Any, model: Any) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"operator.{name} is built with what create_llm(llm_config) gives")

    async def call(self: Any, *given: Any, **named: Any) -> dict[str, Any]:
        if len(given) > len(inputs):
            raise TypeError(f"{name} takes {len(inputs)} inputs, and was given {len(given)} without names")
        first = dict(zip(inputs, given, strict=False))
        if twice := sorted(first.keys() & named.keys()):
            raise TypeError(f"{name} was given {', '.join(twice)} twice")
        return await link.call(name, {**first, **named})

    return type(name, (), {"__init__": build, "__call__": call})


def execute(source: str, task: dict[str, Any]) -> dict[str, Any]:
    """Build the workflow and call it.

    Args:
        source: the program.
        task: ``operators`` (name -> names of inputs), ``name``, ``dataset``, ``config``, ``arguments`` (of the call).

    Returns:
        ``answer`` and ``cost``; or ``wrong``: why what the program returned is no such pair.

    Raises:
        BaseException: whatever the program raises.
    """
    link = Link()
    operators = {name: _stand_in(link, name, inputs) for name, inputs in task["operators"].items()}

    def create_llm(config: Any) -> Model:
        if config is not task["config"]:
            raise TypeError("create_llm takes the llm_config that the workflow was built with")
        return Model(link)

    module = types.ModuleType("workflow")
    sys.modules["workflow"] = module
    module.__dict__.update(
        operator=types.SimpleNamespace(**operators), create_llm=create_llm, OperatorError=OperatorError
    )
    # What Python says of its style is none of the program's output.
    warnings.simplefilter("ignore", SyntaxWarning)
    exec(compile(source, "<workflow>", "exec", dont_inherit=True), module.__dict__)
    returned = asyncio.run(_called(module.__dict__["Workflow"], task))
    return _pair(returned)


async def _called(workflow: Any, task: dict[str, Any]) -> Any:
    one = workflow(task["name"], task["config"], task["dataset"])
    return await one(*task["arguments"])


def _pair(returned: Any) -> dict[str, Any]:
    if type(returned) is not tuple or len(returned) != 2:
        kind = f"a tuple of {len(returned)}" if type(returned) is tuple else f"a {type(returned).__name__}"
        return {"wrong": f"{kind} was returned, and no pair (answer, cost)"}
    answer, cost = returned
    if type(answer) not in (str, int, float) or (type(answer) is float and not math.isfinite(answer)):
        return {"wrong": f"the answer is a {type(answer).__name__}, and no text or number"}
    if type(cost) not in (int, float) or not 0 <= cost < math.inf:
        return {"wrong": "the cost is no number from 0 on"}
    return {"answer": answer, "cost": cost}
