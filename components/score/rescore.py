"""``python -m components.score rescore``: stored responses scored by another judge, without generating again."""

import argparse
import contextlib
import dataclasses
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError
from components.core.identity import digest
from components.core.manifest import sha256_file
from components.core.progress import Progress
from components.core.services.state import state_folder
from components.core.services.stores import start_store
from components.core.services.supervisor import supervise
from components.core.step import StepContext
from components.core.step.lock import exclusive
from components.score.judges import at_work, need_starting
from components.score.responses import Response, heldout_responses, read_prompts, training_responses
from components.score.sources import fetch
from components.score.step import score_by_judge
from components.score.summary import sources_of, table

if TYPE_CHECKING:
    from components.core.spec import Experiment

OUTPUTS = ("scores.parquet", "verdicts.parquet", "calls.parquet", "summary.json")
_TOLD = "data.json"
GENERATIONS = "generations.parquet"
ROLLOUTS = "rollouts.parquet"
_SHORT = 16


def main(arguments: Sequence[str]) -> int:
    """Score, write, print.

    Raises:
        GavelError: a folder, the configuration or the judge is not what is needed.
    """
    from components.core.spec import load_experiment

    options = _parser().parse_args(arguments)
    _check(options)
    named = [f"{part}={getattr(options, part)}" for part in ("judge", "reward") if getattr(options, part)]
    experiment = load_experiment(options.experiment, [*named, *options.overrides])
    progress, state = Progress("rescore"), state_folder()
    with contextlib.ExitStack() as stack:
        bucket = any(str(uri).startswith("s3://") for uri in (options.generations, options.rollouts, options.data))
        if need_starting(experiment, options.endpoint) or bucket:
            manager = stack.enter_context(supervise(state))
            if bucket and "GAVEL_S3_ENDPOINT" not in os.environ:
                start_store(experiment.cluster.store, state, manager)
        # Folders are looked at before any judge is started for them.
        stored = _read(options, progress)
        stack.enter_context(at_work(experiment, state, progress, options.endpoint))
        text = _rescore(experiment, stored, options.output.absolute(), state, progress)
    print(text)
    return 0


def _check(options: argparse.Namespace) -> None:
    example = "make rescore GENERATIONS=FOLDER DATA=FOLDER EXPERIMENT=NAME OUTPUT=FOLDER"
    for name in ("data", "experiment", "output"):
        # Make gives an empty one where its variable is not set; as a path it would mean the current folder.
        if not getattr(options, name).strip():
            raise ConfigError(f"{name.upper()}= (--{name}) is missing", where="rescore", remedy=example)
    options.output = Path(options.output)
    given = [name for name in ("generations", "rollouts") if (getattr(options, name) or "").strip()]
    if len(given) != 1:
        raise ConfigError(
            "GENERATIONS= (--generations) and ROLLOUTS= (--rollouts) are both given, and one is wanted"
            if given
            else "neither GENERATIONS= (--generations) nor ROLLOUTS= (--rollouts) is given",
            where="rescore",
            remedy=example,
        )
    if given == ["generations"]:
        options.rollouts = None


@dataclasses.dataclass(frozen=True)
class _Stored:
    """Responses with what says where they are from.

    Attributes:
        responses: what is scored.
        sources: by row id, the name of the data that the prompt is from.
        content: sha256 of the tables.
        constraints: of data of kind verif_rows, who decided which lines; None for others, and where it is not told.
        origin: the folder that the responses are from.
    """

    responses: Sequence[Response]
    sources: Mapping[str, str]
    content: Sequence[str]
    constraints: str | None
    origin: str


def _read(options: argparse.Namespace, progress: Progress) -> _Stored:
    output: Path = options.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    rollouts = options.rollouts is not None
    table_name, prompts = (ROLLOUTS, "train.parquet") if rollouts else (GENERATIONS, "heldout.parquet")
    with tempfile.TemporaryDirectory(dir=output) as scratch:
        uri = options.rollouts if rollouts else options.generations
        folder = fetch(uri, Path(scratch) / "responses", progress, [table_name])
        data = fetch(options.data, Path(scratch) / "data", progress, [prompts, _TOLD])
        _check_there(folder / table_name, uri, rollouts=rollouts)
        known = read_prompts(data / prompts)
        if rollouts:
            responses = [response for response, _, _ in training_responses(folder / table_name, known)]
        else:
            responses = heldout_responses(folder / table_name, known)
        content = [sha256_file(folder / table_name), sha256_file(data / prompts)]
        return _Stored(responses, sources_of(data / prompts), content, _constraints(data / _TOLD), str(uri))


def _check_there(path: Path, uri: str, *, rollouts: bool) -> None:
    """Raises :class:`ConfigError` where the folder is another step's."""
    if path.is_file():
        return
    mine, other, step = (
        ("ROLLOUTS", "GENERATIONS", "train-grpo") if rollouts else ("GENERATIONS", "ROLLOUTS", "generate")
    )
    is_other = (path.parent / (GENERATIONS if rollouts else ROLLOUTS)).is_file()
    raise ConfigError(
        f"the folder has no {path.name}" + (f", but that of {other}" if is_other else ""),
        where=uri,
        remedy=f"name it as {other}={uri} (--{other.lower()})"
        if is_other
        else f"{mine} is the folder of the step {step}; for that of the other step say {other}=",
    )


def _constraints(path: Path) -> str | None:
    try:
        file = json.loads(path.read_text(encoding="utf-8"))["file"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return file.get("constraints") if isinstance(file, dict) else None


def _rescore(experiment: "Experiment", stored: _Stored, output: Path, state: Path, progress: Progress) -> str:
    """Score with judges that answer; gives the table of figures. What an earlier process of the same work had judged is
    not asked again."""
    identity = digest(
        {
            "judge": experiment.judge_identity(),
            "reward": experiment.reward_identity(),
            "inputs": list(stored.content),
        }
    )
    work = output / ".work" / identity[:_SHORT]
    work.mkdir(parents=True, exist_ok=True)
    with exclusive(work.with_suffix(".lock"), progress, 0.0):
        out = work / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        context = StepContext(experiment, {}, {}, out, work, identity, progress, state)
        score_by_judge(context, stored.responses, stored.sources)
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        summary["responses"] = {"path": stored.origin, "sha256": stored.content[0]}
        summary["constraints"] = stored.constraints
        (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
        for each in OUTPUTS:
            (out / each).replace(output / each)
    return table(summary)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m components.score rescore",
        description="Score stored responses by another judge or reward. Nothing is generated; a killed run goes on "
        "where it was, and verdicts that are known are not asked for again.",
        epilog=f"Written into --output: {', '.join(OUTPUTS)}. A folder is a path, a file:// or an s3:// URL; --data is "
        "what the step prepare-data published for the responses.",
    )
    what = parser.add_argument_group("what is scored (one of these)")
    what.add_argument("--generations", metavar="FOLDER", help="of the step generate: held-out responses")
    what.add_argument("--rollouts", metavar="FOLDER", help="of the step train-grpo: the responses sampled in training")
    parser.add_argument("--data", metavar="FOLDER", required=True, help="of the step prepare-data")
    parser.add_argument("--experiment", required=True, help="a name in configs/experiments, or the path of a YAML file")
    parser.add_argument("--judge", help="in place of the experiment's: a name in configs/judges, or a .yaml path")
    parser.add_argument("--reward", help="in place of the experiment's: a name in configs/rewards, or a .yaml path")
    parser.add_argument("--endpoint", metavar="URL", help="where the judge answers; default: it is started here")
    parser.add_argument("--output", required=True, help="folder for the results; made when missing")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="dotted, as in judge.timeout_seconds=60")
    return parser
