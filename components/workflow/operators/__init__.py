"""The operators that workflows call: every module of this folder is one."""

from components.workflow.operators.base.registry import MODULES, REGISTRY

__all__ = ["MODULES", "REGISTRY"]
