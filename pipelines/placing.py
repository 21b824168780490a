"""What is set on the tasks of a graph: on this machine next to nothing."""

from typing import Any

ACTING = frozenset(
    {"deploy-judge", "probe-judge", "teardown-judge", "teardown-study", "record-arm", "probe-bias", "cross-judge"}
)
"""Steps that act on the world: a hit in KFP's cache would leave the judge undeployed, or running."""
UNCACHED = ACTING | {
    # What a name or a URI stands for may change; it is cheap to look.
    "resolve",
    "import-model",
    # Each run is to note where its report lies.
    "report",
    "study-arms",
    "resolve-arm",
    # It reads what others have left in the store by then.
    "study-report",
}
TITLES = {
    "resolve": "look everything up",
    "prepare-data": "prepare data",
    "import-model": "take the checkpoint",
    "deploy-judge": "judge up",
    "probe-judge": "probe the judge",
    "train-grpo": "train",
    "merge-checkpoint": "merge",
    "generate": "answer held-out prompts",
    "generate-ifeval": "answer IFEval",
    "generate-tasks": "answer the test sets",
    "ifeval": "score IFEval",
    "score-tasks": "score the test sets",
    "score": "score",
    "report": "report",
    "teardown-judge": "tear down the judge",
    "study-arms": "expand the study",
    "resolve-arm": "look the arm up",
    "probe-bias": "probe for biases",
    "generate-drift": "answer while in training",
    "score-stored": "score what was answered",
    "record-arm": "note what the arm left",
    "cross-judge": "score every policy",
    "study-report": "report of the study",
    "teardown-study": "tear down the judges",
}
"""What KFP shows of each step; the steps' names as Gavel's own tables have them."""


class Placing:
    """Settings of tasks for the local runner: caching and names.

    Attributes:
        store: default of the graph's parameter of that name.
        code_version: likewise.
    """

    store = ""
    code_version = "local"

    def place(self, task: Any, step: str) -> Any:
        """Set what the step needs, and return the task.

        Args:
            task: ``kfp.dsl.PipelineTask``.
            step: a key of ``TITLES``.
        """
        task.set_display_name(TITLES[step])
        if step in UNCACHED:
            task.set_caching_options(False)
        return task
