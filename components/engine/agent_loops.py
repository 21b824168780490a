"""Our agent loops by the names under which verl finds them; free of verl, so that both sides import it."""

from pathlib import Path
from typing import Final

AGENT_LOOPS: Final = Path(__file__).with_name("agent_loops.yaml")
SCAFFOLD_LOOP: Final = "gavel_scaffold"
WORKFLOW_LOOP: Final = "gavel_workflow"
