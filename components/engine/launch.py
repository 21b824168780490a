"""The trainer's process: verl's own entry, ended by the system when the step that started it is gone."""

import os
import sys

from components.core.services.process import die_with_parent

if __name__ == "__main__":
    die_with_parent()
    if os.getppid() == 1:
        sys.exit("the step that started the trainer is gone")
    from verl.trainer.main_ppo import main

    main()
