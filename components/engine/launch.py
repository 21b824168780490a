"""The trainer's process: verl's own entry, ended by the system when the step that started it is gone."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies (Linux; elsewhere the step's watchdog does it)."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == 1:
        sys.exit("the step that started the trainer is gone")


if __name__ == "__main__":
    end_with_parent()
    from verl.trainer.main_ppo import main

    main()
