"""A judge of a study is probed, and where the outcomes lie is written down."""

from typing import TYPE_CHECKING

from components.core.errors import GavelError
from components.core.step import Published
from components.core.step.execute import perform
from components.core.step.published import find_published
from components.probe_bias.step import probe_step
from components.study.records import Left, Record, write_record
from components.study.scoring import probed_identity

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.study_load import Study


def is_probed(study: "Study", scorer: "Arm", store: str) -> bool:
    """Whether the judge's outcomes are there; then they are noted for the study.

    Raises:
        StorageError: the store cannot be read.
    """
    published = find_published(probe_step(study.spec.probes, study.spec.seeds[0]), scorer.experiment, store)
    if published is not None:
        _note(study, scorer, store, published)
    return published is not None


def probe(study: "Study", scorer: "Arm", store: str) -> None:
    """Probe the judge, which must be up, or find its outcomes; a failure is noted for the study's report.

    Raises:
        GavelError: it cannot be probed.
    """
    try:
        published = perform(probe_step(study.spec.probes, study.spec.seeds[0]), scorer.experiment, store, {})
    except GavelError as error:
        note_failure(study, scorer, store, error)
        raise
    _note(study, scorer, store, published)


def note_failure(study: "Study", scorer: "Arm", store: str, error: GavelError) -> None:
    """Write down why there are no outcomes of the judge.

    Raises:
        StorageError: the store does not take it.
    """
    record = Record(probed_identity(study, scorer), {}, error.what.split("\n")[0])
    write_record(store, study.spec.name, "probes", scorer.name, record)


def _note(study: "Study", scorer: "Arm", store: str, published: Published) -> None:
    record = Record(probed_identity(study, scorer), {"outcomes": Left(published.uri, published.sha256)})
    write_record(store, study.spec.name, "probes", scorer.name, record)
