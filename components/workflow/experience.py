"""The experience buffer of a training, as those who reward, who prompt and who publish open it."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.models.materialize import cache_folder
from components.tasks.tables import FOLDER, read_tests
from components.workflow.buffer.buffer import ExperienceBuffer
from components.workflow.buffer.embed import build_embedder
from components.workflow.buffer.entry import Forbidden

if TYPE_CHECKING:
    from components.core.spec import Experiment


def open_buffer(experiment: "Experiment", work: Path, state: Path, data: Path) -> ExperienceBuffer | None:
    """The buffer of a training; None where no prompt shows examples.

    Args:
        experiment: with the part workflow.
        work: the training step's durable folder, which holds the buffer.
        state: the state folder, beside which converted models lie.
        data: folder that prepare-data published, whose tests are never kept.

    Raises:
        ContractError: a test table breaks its contract.
        StorageError: the buffer's file cannot be opened.
    """
    spec = experiment.workflow
    if spec is None or not spec.examples:
        return None
    tests = read_tests(data).rows.items() if (data / FOLDER).is_dir() else ()
    forbidden = Forbidden.of((name, str(row["extra_info"]["question"])) for name, row in tests)
    embedder = build_embedder(spec.buffer.embedder, cache_folder(state))
    return ExperienceBuffer(work, spec.buffer, spec.reward.scale, forbidden, embedder)
