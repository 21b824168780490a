"""The environment that verl's processes run in."""

import os
from pathlib import Path

from components.core.spec.experiment import Experiment
from components.engine.cpu import PLATFORM_MODULE
from components.engine.trackers import tracking_environment
from components.engine.updates import VENDOR
from components.reward.verl_manager_settings import SETTINGS_ENV

ROOT = Path(__file__).resolve().parents[2]
_ADDRESS = "RAY_ADDRESS"


def verl_environment(experiment: Experiment) -> dict[str, str]:
    """Variables that every process which imports verl needs, on top of the present environment."""
    variables = environment_on(experiment.cluster.accelerator, experiment.cluster.cpu_threads)
    if experiment.cluster.placement == "kubernetes" and _ADDRESS in os.environ:
        # Inside a job: its Ray is the one to join.
        variables[_ADDRESS] = os.environ[_ADDRESS]
    return variables


def environment_on(accelerator: str, cpu_threads: int) -> dict[str, str]:
    """The same where there is no experiment.

    Args:
        accelerator: ``cpu`` or ``gpu``.
        cpu_threads: threads that compute on the CPU.
    """
    variables = {name: value for name, value in os.environ.items() if name != _ADDRESS}
    path = [str(ROOT), *filter(None, [variables.get("PYTHONPATH")])]
    variables |= {
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if accelerator == "cpu":
        threads = str(cpu_threads)
        variables |= {
            "VERL_USE_EXTERNAL_MODULES": PLATFORM_MODULE,
            "VERL_PLATFORM": "cpu",
            # Takes the FSDP engine, which verl registers for accelerators only; the platform still yields CPU tensors.
            "VERL_ENGINE_DEVICE": "cuda",
            "CUDA_VISIBLE_DEVICES": "0",
            "GAVEL_CPU_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            # The trainer, the rollout and the judge take turns on the same cores. Threads that spin while they wait
            # for one another slow the next phase's process many times over.
            "OMP_WAIT_POLICY": "PASSIVE",
            "GOMP_SPINCOUNT": "0",
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
        }
    return variables


def training_environment(experiment: Experiment, *, settings: Path, metrics: Path, work: Path) -> dict[str, str]:
    """Variables for the trainer.

    Args:
        experiment: for the accelerator and the number of threads.
        settings: the reward manager's settings file.
        metrics: verl's metrics as JSON lines; each start of the trainer begins the file anew.
        work: the training step's durable folder.
    """
    return verl_environment(experiment) | {
        SETTINGS_ENV: str(settings),
        "VERL_ENGINE_VENDOR": VENDOR,
        "GAVEL_TRAIN_FOLDER": str(work),
        "VERL_FILE_LOGGER_PATH": str(metrics),
        "TENSORBOARD_DIR": str(work / "tensorboard"),
        "HYDRA_FULL_ERROR": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        # Ray starts workers at low priority; whatever else runs on a small machine would then stop the training.
        "RAY_worker_niceness": "0",
        # Ray would start an idle process for each of the logical CPUs that verl's actors ask for.
        "RAY_prestart_worker_first_driver": "0",
        "RAY_enable_worker_prestart": "0",
        "MALLOC_ARENA_MAX": "2",
        "RAY_DEDUP_LOGS": "0",
        **tracking_environment(experiment.training, work),
    }
