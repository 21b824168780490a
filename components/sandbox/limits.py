"""What one call in the sandbox may use."""

import dataclasses

_MIB = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one call; whoever passes one gets a :class:`components.sandbox.outcome.Failure`.

    Attributes:
        cpu_seconds: of processor time, whole seconds.
        wall_seconds: from the start of the call's process to its answer.
        memory_bytes: of address space, the interpreter's own included (about 30 MiB).
        file_bytes: of one file, and of all files in the temporary folder together where that is a file system of its
            own (level ``namespaces``).
        processes: that the code may have at once besides its own; 0 lets it start none. Threads are never denied.
        open_files: descriptors.
        output_bytes: written to standard output and error together.
        value_bytes: of the answer as JSON.
        shut_files: whether a call is refused where nothing shuts it off from this machine's files: level ``filter`` on
            a kernel without Landlock.
    """

    cpu_seconds: int = 2
    wall_seconds: float = 10.0
    memory_bytes: int = 512 * _MIB
    file_bytes: int = 16 * _MIB
    processes: int = 0
    open_files: int = 64
    output_bytes: int = _MIB
    value_bytes: int = _MIB
    shut_files: bool = False

    def __post_init__(self) -> None:
        for name, least in (("cpu_seconds", 1), ("memory_bytes", 64 * _MIB), ("processes", 0), ("open_files", 8)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        for name in ("wall_seconds", "file_bytes", "output_bytes", "value_bytes"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
