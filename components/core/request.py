"""What a run is asked to do: the parameters of a pipeline, as a person may write them anew in the KFP UI."""

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError
from components.core.services.state import with_sources

if TYPE_CHECKING:
    from components.core.spec import Experiment

_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class Request:
    """Parameters of a pipeline, all text; an empty one changes nothing.

    Attributes:
        experiment: YAML or JSON of an experiment, whose parts may be names in ``configs/``, or such a name itself.
        judge: a name in ``configs/judges``, in place of the experiment's judge.
        seed: a number, in place of the experiment's seed.
        start_from: ``s3://`` or ``file://`` URI of a model, published or in Hugging Face layout, that training starts
            from (``policy.source``).
    """

    experiment: str
    judge: str = ""
    seed: str = ""
    start_from: str = ""

    def changes(self) -> list[str]:
        """The parameters as overrides of the experiment."""
        found = []
        if self.judge.strip():
            found.append(f"judge={json.dumps(self.judge.strip())}")
        if self.seed.strip():
            found.append(f"seed={self.seed.strip()}")
        if self.start_from.strip():
            source = {"kind": "uri", "uri": self.start_from.strip()}
            found.append(f"policy.source={json.dumps(source)}")
        return found

    def resolve(self, configs: Path | None = None) -> "Experiment":
        """The experiment with everything looked up.

        Raises:
            ConfigError: the text is empty, or the experiment has mistakes; all are listed.
        """
        from components.core.spec import Experiment, load_experiment

        text = with_sources(self.experiment.strip())
        if not text:
            remedy = "give the YAML of an experiment, or a name in configs/experiments"
            raise ConfigError("the experiment is empty", where="parameter experiment", remedy=remedy)
        changes = self.changes()
        if text.startswith("{") and not changes:
            try:
                return Experiment.from_json(text)
            except ConfigError:
                # Parts may be names; then this reads as any other YAML, and its mistakes come with their lines.
                pass
        if _NAME.fullmatch(text):
            return load_experiment(text, changes, configs)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "experiment.yaml"
            path.write_text(text + "\n", encoding="utf-8")
            return load_experiment(path, changes, configs)


def store_url(experiment: "Experiment", given: str = "") -> str:
    """Root of the store: ``given``, or what the experiment's cluster names.

    Raises:
        ConfigError: the cluster's store is one that a run on this machine starts, and no URL is given.
    """
    store = experiment.cluster.store
    found = given.strip() or store.url or (f"s3://{store.bucket}" if store.kind == "s3" else "")
    if not found:
        what = f"cluster {experiment.cluster.name} has a store of kind {store.kind}, which has no URL of its own"
        raise ConfigError(
            what, where="parameter store", remedy="give store=s3://bucket/prefix, or use a cluster of kind s3"
        )
    return found
