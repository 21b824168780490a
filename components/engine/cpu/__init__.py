"""What verl 0.9.1 lacks to run without an accelerator: a CPU platform and a rollout over transformers.

Both come in through verl's own hooks: ``VERL_USE_EXTERNAL_MODULES`` names :mod:`components.engine.cpu.platform`, which
every process of a run imports, and ``actor_rollout_ref.model.external_lib`` names :mod:`components.engine.cpu.rollout`.
"""

PLATFORM_MODULE = "components.engine.cpu.platform"
ROLLOUT_MODULE = "components.engine.cpu.rollout"
ROLLOUT_NAME = "hfcpu"
