"""Pretended operators: KServe's, and KubeRay's with Kueue's."""

from ray_operator import Ray, RayOperator
from serving_operator import Serving, ServingOperator

__all__ = ["Ray", "RayOperator", "Serving", "ServingOperator"]
