"""Fixtures that tests of many folders share."""

from kube_fixture import api, double, real_server

__all__ = ["api", "double", "real_server"]
