"""The pretended cluster of tests/kube and the judges of tests/judge/kserve, by their bare names."""

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
for _folder in ("kube", "judge/kserve"):
    if str(_TESTS / _folder) not in sys.path:
        sys.path.append(str(_TESTS / _folder))
