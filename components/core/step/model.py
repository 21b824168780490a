"""What a step is, what it is given, and what it leaves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.core.manifest import Manifest, Scalar
from components.core.progress import Progress
from components.core.store import Store

if TYPE_CHECKING:
    from components.core.spec import Experiment


NOTES: Final = "notes"
"""Of what a step returns: lines for whoever runs it, told again whenever the result is reused."""


@dataclass(frozen=True)
class StepContext:
    """What a running step is given."""

    experiment: "Experiment"
    inputs: Mapping[str, Path]
    """Folders with the verified content of each input; to be read only."""
    manifests: Mapping[str, Manifest]
    """The manifest of each input."""
    out: Path
    """Empty at the start; what lies here at the end is published."""
    work: Path
    """Private to this identity; survives kills, so that the step can go on from what it left here."""
    identity: str
    progress: Progress
    state: Path
    """The folder of everything local and temporary (GAVEL_STATE)."""
    store: Store | None = None
    """Where the result will be published, for what is to be kept even if the step fails; None for a step that is not
    durable."""
    place: str = ""
    """Key of this identity's folder in ``store``. What a step puts there itself lies in a folder of its own, beside the
    published content, and is no part of the result."""
    store_url: str = ""
    """Root of the run's store, also for a step that is not durable: what it leaves there may never decide whether it
    succeeds."""


@dataclass(frozen=True)
class Elsewhere:
    """What is given to whoever has a step's work done in another place: a job of the cluster."""

    experiment: "Experiment"
    store: Store
    store_url: str
    inputs: Mapping[str, str]
    """URIs of the published folders that the step reads, by name."""
    identity: str
    progress: Progress
    state: Path
    """The folder of everything local and temporary (GAVEL_STATE), here."""
    place: str
    """Key of this identity's folder in ``store``, in which the result must be found afterwards."""


@dataclass(frozen=True)
class Step:
    """One step of a pipeline.

    The identity of its result is made of ``name``, ``depends``, the inputs' content, the sources reached from
    ``module`` and ``extra_modules`` without those that are ``unused``, and the versions of ``packages``.
    """

    name: str
    """As in ``train-grpo``."""
    module: str
    """Where the work is, as in ``components.train.step``."""
    depends: Callable[["Experiment"], object]
    """The JSON-able part of the experiment that the result depends on, without cluster and endpoint fields."""
    run: Callable[[StepContext], Mapping[str, Scalar]]
    """Does the work; what it returns goes into the manifest and the artifact's metadata."""
    packages: tuple[str, ...] = ()
    """Third-party packages whose version changes the result."""
    extra_modules: tuple[str, ...] = ()
    """First-party modules that are loaded by name, which the walk over imports cannot see."""
    unused: Callable[["Experiment"], tuple[str, ...]] = lambda _: ()
    """First-party modules and packages of which nothing runs for this experiment, although they are imported: a change
    there repeats nothing."""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For an input of which only some files are read: shell patterns of their paths. Others are not fetched; the
    identity still depends on the whole input."""
    durable: bool = True
    """False for a step that acts on the world (deploy, probe, tear-down): it always runs and publishes nothing."""
    keep_work: bool = False
    """True to keep ``work`` after the result is published."""
    elsewhere: Callable[[Elsewhere], None] | None = None
    """On a cluster (placement kubernetes) called in place of ``run``: has this same step run inside a job, and returns
    once that has published the result. Its sources join no identity, since no result depends on who waits for it."""


@dataclass(frozen=True)
class Published:
    """Where a step's result lies. ``uri`` and ``sha256`` are empty for a step that is not durable."""

    uri: str
    sha256: str
    identity: str
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    reused: bool = False
