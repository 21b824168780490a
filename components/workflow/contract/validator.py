"""Validation of what a model wrote: in a sandbox, since Python's parser can be made to crash or to take its time."""

from collections.abc import Mapping
from typing import Final

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import Failure, FailureKind, Outcome, Value
from components.sandbox.sandbox import Sandbox
from components.workflow.contract import (
    awaits,
    extract,
    names,
    operators,
    outcome,
    outputs,
    returns,
    scopes,
    shape,
    signature,
    source,
    told,
    validate,
)
from components.workflow.contract.outcome import Invalid, InvalidReason, Plan
from components.workflow.contract.signature import Signature
from components.workflow.preload import preload

LIMITS: Final = Limits(cpu_seconds=5, wall_seconds=30.0, memory_bytes=512 << 20, output_bytes=1 << 16, shut_files=True)
_MODULES: Final = (
    *(outcome, signature, extract, source, shape, names, scopes, operators, awaits, outputs, returns, validate, told),
)


class Validator:
    """Validates texts that nobody vouches for, as many at once as there are cores.

    Args:
        signatures: of the operators that there are, by name.
        limits: of one validation; a text that passes them is ``too_complex``.
        concurrency: validations at once; None for as many as this process has cores.
        level: kind of isolation; None for the strongest that this machine permits.
    """

    def __init__(
        self,
        signatures: Mapping[str, Signature],
        limits: Limits = LIMITS,
        *,
        concurrency: int | None = None,
        level: str | None = None,
    ) -> None:
        self._signatures = told.as_json(signatures)
        prelude = preload(_MODULES, "tell", "import ast, difflib, symtable")
        self._sandbox = Sandbox(limits, concurrency=concurrency, prelude=prelude, level=level)

    async def validate(self, response: str) -> Plan | Invalid:
        """What a policy's response is.

        Raises:
            ServiceError: it was not found out: the sandbox cannot be had, or something outside killed it.
        """
        if len(response) > extract.LONGEST_RESPONSE:
            what = f"a response of {len(response)} characters; at most {extract.LONGEST_RESPONSE}"
            return Invalid(InvalidReason.TOO_LONG, what)
        found = await self._tried(response)
        if isinstance(found, Failure) and found.kind is FailureKind.KILLED:
            found = await self._tried(response)
        if isinstance(found, Value):
            return told.read(found.value)
        if found.kind in (FailureKind.TIMEOUT, FailureKind.MEMORY, FailureKind.CRASH):
            return Invalid(InvalidReason.TOO_COMPLEX, f"validation did not end within its limits: {found.detail}")
        raise ServiceError("a workflow could not be validated", where=f"{found.kind}: {found.detail}")

    async def _tried(self, response: str) -> Outcome:
        return await self._sandbox.run("", "tell", [response, self._signatures])

    async def close(self) -> None:
        """End the processes."""
        await self._sandbox.close()
