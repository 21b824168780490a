"""A verl platform that answers "cpu" wherever verl asks for the accelerator.

verl 0.9.1 reads torch's device module through a platform object, but knows only accelerators. Three places outside that
object assume one as well; each is corrected below where it is explained.
"""

import contextlib
import datetime
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import torch
import torch.distributed
import torch.distributed.fsdp
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry

DEVICE = torch.device("cpu")


def _nothing(*_: Any, **__: Any) -> None:
    """Stands for calls that only an accelerator needs."""


def _zero(*_: Any, **__: Any) -> int:
    return 0


def _device_module() -> types.ModuleType:
    """The part of ``torch.cuda`` that verl uses, for a machine without an accelerator."""
    module = types.ModuleType("gavel_cpu_device")
    functions: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: DEVICE,
        "get_device_name": lambda *_: "cpu",
        "mem_get_info": lambda *_: (psutil.virtual_memory().available, psutil.virtual_memory().total),
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "set_rng_state": lambda state, *_: torch.set_rng_state(state),
        "manual_seed": torch.manual_seed,
        "manual_seed_all": torch.manual_seed,
        "is_bf16_supported": lambda *_: True,
        "current_stream": torch.cpu.current_stream,
        "stream": torch.cpu.stream,
        "Stream": torch.cpu.Stream,
    }
    functions |= dict.fromkeys(("set_device", "synchronize", "empty_cache", "ipc_collect"), _nothing)
    functions["reset_peak_memory_stats"] = _nothing
    functions |= dict.fromkeys(
        ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"), _zero
    )
    for name, function in functions.items():
        setattr(module, name, function)
    return module


_MODULE = _device_module()


@PlatformRegistry.register(platform="cpu")
class CpuPlatform(PlatformBase):
    """verl's view of a machine whose only device is its processor."""

    device_name = property(lambda self: "cpu")
    vendor_name = property(lambda self: "cpu")
    device_module = property(lambda self: _MODULE)

    def is_available(self) -> bool:
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        return os.environ.get("VERL_PLATFORM") == "cpu"

    def current_device(self) -> torch.device:
        return DEVICE

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        pass

    def synchronize(self, device_index: int | None = None) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    def ray_resource_name(self) -> str:
        # verl's worker pool asks Ray for this resource; the run starts Ray with one logical unit of it.
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]

    def is_ipc_supported(self) -> bool:
        return False

    @contextlib.contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        pass

    def profiler_stop(self) -> None:
        pass

    def cudart(self) -> None:
        return None


def _accept_doubled_backend() -> None:
    """verl composes "cpu:gloo,<device>:<backend>", which on a CPU names cpu twice; torch refuses that."""
    original = torch.distributed.init_process_group

    def init_process_group(backend: str | None = None, *args: Any, **kwargs: Any) -> None:
        if backend == "cpu:gloo,cpu:gloo":
            backend = "gloo"
        if kwargs.get("timeout", 0) is None:
            kwargs["timeout"] = datetime.timedelta(minutes=30)
        original(backend, *args, **kwargs)

    torch.distributed.init_process_group = init_process_group


def _never_pin_memory() -> None:
    """verl gives forward-only modules CPUOffloadPolicy(pin_memory=True); pinning needs an accelerator."""
    original = torch.distributed.fsdp.CPUOffloadPolicy

    class UnpinnedOffloadPolicy(original):  # type: ignore[misc,valid-type]
        def __init__(self, pin_memory: bool = False) -> None:
            super().__init__(pin_memory=False)

    torch.distributed.fsdp.CPUOffloadPolicy = UnpinnedOffloadPolicy


_accept_doubled_backend()
_never_pin_memory()
