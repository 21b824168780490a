"""Names that our agent loops share with those that do not import verl."""

from pathlib import Path
from typing import Final

AGENT_LOOPS: Final = Path(__file__).with_name("agent_loops.yaml")
LOOP_NAME: Final = "gavel_scaffold"
WORKFLOW_LOOP_NAME: Final = "gavel_workflow"
