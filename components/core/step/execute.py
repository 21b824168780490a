"""Running a step: reuse what is published, else do the work and publish it."""

import dataclasses
import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

from components.core.errors import ContractError, StepError
from components.core.identity import canonical_json, identity, package_versions
from components.core.manifest import MANIFEST_NAME, InputRef, Manifest, Scalar, scan_folder
from components.core.progress import Progress, clock_text
from components.core.services.state import state_folder
from components.core.step import runlog
from components.core.step.lock import exclusive, lock_wait
from components.core.step.model import NOTES, Elsewhere, Published, Step, StepContext
from components.core.step.provenance import git_state, host, parquet_rows
from components.core.step.results import Results, Source, open_sources
from components.core.step.version import code_version_of
from components.core.step.watchdog import start_watchdog
from components.core.store import Store
from components.core.store.disk import atomic
from components.core.store.keys import join

if TYPE_CHECKING:
    from components.core.spec import Experiment

INSIDE_VARIABLE = "GAVEL_INSIDE_JOB"
"""1 where a step that could go elsewhere has arrived there."""


def execute(step: Step, experiment_json: str, store_url: str, inputs: Mapping[str, str]) -> Published:
    """Run a step, or find its result published already.

    Args:
        step: what to run.
        experiment_json: the resolved experiment.
        store_url: root of the store.
        inputs: by name, the URI of each published folder that the step reads.

    Raises:
        GavelError: what the user can act on. Whatever is raised, the run's log gets a ``failed`` line first.
    """
    from components.core.spec import Experiment

    return perform(step, Experiment.from_json(experiment_json), store_url, inputs)


def perform(step: Step, experiment: "Experiment", store_url: str, inputs: Mapping[str, str]) -> Published:
    """As ``execute``, with the experiment as an object."""
    state = state_folder()
    execution = _Execution(step, experiment, state, Progress(step.name), store_url)
    start_watchdog()
    with runlog.noted(state, step.name) as ending:
        try:
            # A step that acts on the world must not need the store: a judge is torn down even if the store is gone.
            published = execution.run(Store.open(store_url) if step.durable or inputs else None, inputs)
        finally:
            ending.identity = execution.identity
        ending.identity, ending.status, ending.uri = published.identity, runlog.status(published.reused), published.uri
    return published


@dataclass
class _Execution:
    step: Step
    experiment: "Experiment"
    state: Path
    progress: Progress
    store_url: str
    identity: str = ""
    code: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    depends: object = None
    results: Results | None = None

    def run(self, store: Store | None, uris: Mapping[str, str]) -> Published:
        step = self.step
        sources = open_sources(store, uris) if store else {}
        self.code = code_version_of(step, self.experiment)
        self.packages = package_versions(step.packages)
        self.depends = json.loads(canonical_json(step.depends(self.experiment)))
        hashes = {name: source.manifest.sha256 for name, source in sources.items()}
        self.identity = identity(step.name, self.depends, hashes, self.code, self.packages)
        if not step.durable or store is None:
            return self._act(sources)
        results = self.results = Results(store, self.experiment.name, step.name, self.identity)
        found = results.find(self.progress)
        if found is None and self._goes_elsewhere():
            # No lock: whoever waits for the same job may do so side by side.
            found = self._elsewhere(results, store_url=self.store_url, uris=uris)
        elif found is None:
            with exclusive(self._beside("lock"), self.progress, lock_wait()):
                found = results.find(self.progress) or self._make(results, sources)
        if found.reused:
            self.progress.phase(f"reused {found.uri}")
            for note in str(found.metadata.get(NOTES) or "").splitlines():
                self.progress.phase(note)
        return found

    def _goes_elsewhere(self) -> bool:
        inside = os.environ.get(INSIDE_VARIABLE) == "1"
        return self.step.elsewhere is not None and self.experiment.cluster.placement == "kubernetes" and not inside

    def _elsewhere(self, results: Results, store_url: str, uris: Mapping[str, str]) -> Published:
        assert self.step.elsewhere is not None
        asked = Elsewhere(
            experiment=self.experiment,
            store=results.store,
            store_url=store_url,
            inputs=uris,
            identity=self.identity,
            progress=self.progress,
            state=self.state,
            place=results.prefix,
        )
        self.step.elsewhere(asked)
        found = results.find(self.progress)
        if found is None:
            raise StepError(
                "the job ended well, but its result is not in the store",
                where=results.store.uri(results.prefix),
                remedy="see whether job and step use the same image: another code version makes another identity",
            )
        return dataclasses.replace(found, reused=False)

    def _act(self, sources: Mapping[str, Source]) -> Published:
        metadata, _ = self._work(sources)
        shutil.rmtree(self._beside("out"))
        shutil.rmtree(self._beside("in"), ignore_errors=True)
        if not self.step.keep_work:
            shutil.rmtree(self._place, ignore_errors=True)
        return Published("", "", self.identity, metadata)

    def _make(self, results: Results, sources: Mapping[str, Source]) -> Published:
        out = self._beside("out")
        manifest = self._sealed(out)
        if manifest is None:
            started = datetime.now(UTC).isoformat(timespec="seconds")
            metadata, seconds = self._work(sources)
            manifest = self._manifest(out, sources, metadata, started, seconds)
            with atomic(out / MANIFEST_NAME, 0) as stream:
                stream.write(manifest.to_bytes())
        else:
            self.progress.phase("the work was done before and is published now")
        published = results.publish(out, manifest, self.progress)
        self.progress.phase(f"published {published.uri} after {clock_text(manifest.seconds)}")
        shutil.rmtree(out)
        shutil.rmtree(self._beside("in"), ignore_errors=True)
        if not self.step.keep_work:
            shutil.rmtree(self._place, ignore_errors=True)
        return published

    def _work(self, sources: Mapping[str, Source]) -> tuple[dict[str, Scalar], float]:
        inputs = {
            name: source.fetch(self._beside("in") / name, self.progress, self.step.needs.get(name, ("*",)))
            for name, source in sources.items()
        }
        out = self._beside("out")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        self._place.mkdir(parents=True, exist_ok=True)
        manifests = {name: source.manifest for name, source in sources.items()}
        context = StepContext(
            self.experiment,
            inputs,
            manifests,
            out,
            self._place,
            self.identity,
            self.progress.begin(None),
            self.state,
            store=self.results.store if self.results else None,
            place=join(str(self.experiment.name), self.step.name, self.identity),
            store_url=self.store_url,
        )
        began = time.monotonic()
        metadata = dict(self.step.run(context))
        for key, value in metadata.items():
            if not isinstance(value, str | int | float | bool | None):
                raise StepError(f"the step returned {key}={value!r}, which is no JSON scalar", where=self.step.module)
        canonical_json(metadata)
        return metadata, time.monotonic() - began

    def _manifest(
        self, out: Path, sources: Mapping[str, Source], metadata: dict[str, Scalar], started: str, seconds: float
    ) -> Manifest:
        files = scan_folder(out)
        if not files:
            raise StepError("the step left nothing to publish", where=self.step.module)
        return Manifest(
            files=files,
            step=self.step.name,
            experiment=self.experiment.name,
            identity=self.identity,
            code_version=self.code,
            depends=self.depends,
            inputs={name: InputRef(uri=s.uri, sha256=s.manifest.sha256) for name, s in sources.items()},
            seeds={"seed": self.experiment.seed},
            rows=parquet_rows(out),
            metadata=metadata,
            packages=self.packages,
            python=python_version(),
            git=git_state(),
            host=host(),
            started=started,
            seconds=round(seconds, 3),
        )

    def _sealed(self, out: Path) -> Manifest | None:
        """The manifest of work that was finished, but not published, by an earlier process."""
        if not (out / MANIFEST_NAME).exists():
            return None
        try:
            manifest = Manifest.read(out)
        except ContractError:
            return None
        whole = manifest.identity == self.identity and manifest.files == scan_folder(out)
        return manifest if whole else None

    @property
    def _place(self) -> Path:
        return self.state / "work" / str(self.experiment.name) / self.step.name / self.identity

    def _beside(self, ending: str) -> Path:
        return self._place.with_name(f"{self.identity}.{ending}")
