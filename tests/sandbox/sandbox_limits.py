"""The limits that the tests' calls run under."""

from collections.abc import Callable

from components.sandbox.limits import Limits
from components.sandbox.outcome import Outcome

LIMITS = Limits(cpu_seconds=1, wall_seconds=10.0, memory_bytes=256 << 20, file_bytes=1 << 20, output_bytes=100_000)
Run = Callable[..., Outcome]
