"""No deadline for property tests: a busy machine is no failure. The score tests' scripted judge and the workflow tests'
scripted executor serve here too."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.append(str(Path(__file__).resolve().parents[1] / "score"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "workflow"))
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
