"""What verl 0.9.1 lacks to run without an accelerator: a CPU platform and a rollout over transformers.

Both come in through verl's own hooks: ``VERL_USE_EXTERNAL_MODULES`` names :mod:`components.train.cpu.platform`, which
every process of a run imports, and ``actor_rollout_ref.model.external_lib`` names :mod:`components.train.cpu.rollout`.
"""

PLATFORM_MODULE = "components.train.cpu.platform"
ROLLOUT_MODULE = "components.train.cpu.rollout"
ROLLOUT_NAME = "hfcpu"
