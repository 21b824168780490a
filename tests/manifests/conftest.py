"""Helper modules of other rooms' tests, by their bare names."""

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
for _folder in ("rayjob", "judge/kserve", "manifests"):
    if str(_TESTS / _folder) not in sys.path:
        sys.path.append(str(_TESTS / _folder))
