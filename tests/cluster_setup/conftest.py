"""Helper modules of the manifests' tests, by their bare names."""

import sys
from pathlib import Path

_FOLDER = str(Path(__file__).resolve().parents[1] / "manifests")
if _FOLDER not in sys.path:
    sys.path.append(_FOLDER)

from store_server import seaweedfs  # noqa: E402

__all__ = ["seaweedfs"]
