"""The scripted executor of the workflow tests, and the runs of the reward tests, serve here too."""

import sys
from pathlib import Path

for name in ("workflow", "reward"):
    sys.path.append(str(Path(__file__).resolve().parents[1] / name))
