"""Models whose weights may change between two runs of one experiment."""

import re
from typing import TYPE_CHECKING, Final

from components.core.spec.source import HubSource

if TYPE_CHECKING:
    from components.core.spec import Experiment

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


def loose_models(experiment: "Experiment") -> list[str]:
    """The policy and the judges that are fetched from the hub by a branch or tag, as lines of text."""
    named: list[tuple[str, str, object]] = [("policy", experiment.policy.name, experiment.policy.source)]
    if experiment.asks_judge:
        # Weights of an external judge are its server's matter.
        named += [("judge", judge.name, judge.source) for judge in experiment.judges() if judge.serving != "external"]
    if (workflow := experiment.workflow) is not None and workflow.executor.serving != "external":
        named.append(("executor", workflow.executor.name, workflow.executor.source))
    return [
        f"{part} {name} is not pinned: {source.repo} at {source.revision!r} may be other weights tomorrow; set the "
        "revision of its source to a commit"
        for part, name, source in named
        if isinstance(source, HubSource) and not _COMMIT.fullmatch(source.revision)
    ]
