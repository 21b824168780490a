"""The process of one call: gives up what it may not have, runs the source, and answers once."""

import json
import os
import resource
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from components.sandbox.runner import kernel, seccomp, world

ANSWER: Final = 3
"""Descriptor of the answer."""
PEER: Final = 4
"""Descriptor of the socket to another call, where the call has one."""
READY: Final = b"R"
"""First byte of the answer: what follows may come from the untrusted code, what comes instead cannot."""
_THREADS: Final = 32
_SPARE_ID: Final = 65534


def confine(limits: Mapping[str, Any], *, namespaces: bool, user: int | None, folder: str, readable: list[str]) -> None:
    """Take away from this process all that the call may not have. It cannot be had back.

    Args:
        limits: fields of :class:`components.sandbox.limits.Limits`.
        namespaces: whether this process is the first of a pid namespace in the changed root.
        user: id to become, which needs root; None keeps the present one.
        folder: the call's temporary folder.
        readable: folders that may be read where the root was not changed.

    Raises:
        OSError: something could not be taken away.
    """
    os.setsid()
    if namespaces:
        world.fresh_folder(limits["file_bytes"])
    os.chdir(folder)
    os.umask(0o077)
    if user is not None:
        # Before the limits: they then count, from the first on, what this id alone has.
        _become(user)
    counted_apart = namespaces or user is not None
    most: dict[int, int] = {
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
    }
    if counted_apart:
        # The limit is on all processes and threads of a user, wherever it has no namespace or id of its own.
        most[resource.RLIMIT_NPROC] = limits["processes"] + _THREADS
    for kind, value in most.items():
        hard = resource.getrlimit(kind)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (least, least))
    kernel.drop_capabilities()
    # Here, since a change of user takes it back; the filter keeps the code from doing so.
    kernel.die_with_parent()
    if not namespaces:
        try:
            kernel.restrict_paths(readable, [folder, "/dev/null"])
        except OSError as error:
            # An old kernel; the level's text says what then remains, from a probe.
            if limits["shut_files"]:
                raise OSError(error.errno, f"nothing shuts off the files of this machine: {error}") from error
    only = None if namespaces else os.getpid()
    kernel.filter_calls(seccomp.program(kernel.MACHINE, forks=limits["processes"] > 0, only=only))


def _become(user: int) -> None:
    os.setgroups([])
    try:
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError:
        # A container whose own ids are few.
        os.setresgid(_SPARE_ID, _SPARE_ID, _SPARE_ID)
        os.setresuid(_SPARE_ID, _SPARE_ID, _SPARE_ID)


def answer(base: Mapping[str, Any], source: str, call: str, arguments: Sequence[Any], nonce: bytes) -> NoReturn:
    """Run the source, call its function, write what came of it to :data:`ANSWER`, and end the process.

    What is used after the untrusted code has run is taken hold of before, so that code which patches modules and
    builtins still gets its own value reported. Code that goes to the trouble of reading this function's frame can
    answer whatever it likes, as it could by returning it; it cannot answer for another call.
    """
    write, leave, here, pid = os.write, os._exit, os.getpid, os.getpid()
    encode = _encoder()
    flush: Callable[[], object] = sys.stdout.flush
    view, size = memoryview, int.to_bytes
    shield = types.ModuleType("builtins")
    shield.__dict__.update(sys.modules["builtins"].__dict__)
    for name in [name for name in sys.modules if name.partition(".")[0] == "components"]:
        del sys.modules[name]
    sys.modules["builtins"] = shield
    kind, told = _outcome({**base, "__name__": "sandboxed", "__builtins__": shield.__dict__}, source, call, arguments)
    if here() != pid:
        # A child that the code forked returned from it as well.
        leave(0)
    kind, text = encode(told) if kind == "value" else (kind, told.encode("ascii", "backslashreplace"))
    try:
        flush()
    finally:
        data = kind.encode() + b"\n" + text
        left = view(nonce + size(len(data), 8, "big") + data)
        while left:
            left = left[write(ANSWER, left) :]
        leave(0)


def _outcome(namespace: dict[str, Any], source: str, call: str, arguments: Sequence[Any]) -> tuple[str, Any]:
    try:
        exec(compile(source, "<sandboxed>", "exec", dont_inherit=True), namespace)
        if call not in namespace:
            return "exception", f"NameError: the source defines no {call}"
        return "value", namespace[call](*arguments)
    except MemoryError:
        return "memory", "MemoryError"
    except ImportError as error:
        return "import_error", _told(error)
    except BaseException as error:  # noqa: BLE001 (the boundary of untrusted code: also SystemExit, KeyboardInterrupt)
        return "exception", _told(error)


def _told(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 (untrusted __str__)
        text = "(an error without a readable message)"
    return f"{type(error).__name__}: {text}"[:500]


def _encoder() -> Callable[[Any], tuple[str, bytes]]:
    """(kind, JSON) of a value by C code alone, which patches of the json module do not reach."""

    def refuse(value: object) -> NoReturn:
        raise TypeError(f"a {type(value).__name__} is no JSON value")

    make: Any = getattr(json.encoder, "c_make_encoder")  # noqa: B009 (not in the type stubs)
    quote: Any = getattr(json.encoder, "encode_basestring_ascii")  # noqa: B009
    encode = make({}, refuse, quote, None, ":", ",", False, False, False)
    join = "".join
    memory, anything = MemoryError, BaseException

    def encoded(value: Any) -> tuple[str, bytes]:
        try:
            return "value", join(encode(value, 0)).encode("ascii")
        except memory:
            return "memory", b"the value does not fit into memory as JSON"
        except anything as error:
            return "bad_result", f"{error}"[:300].encode("ascii", "backslashreplace")

    return encoded
