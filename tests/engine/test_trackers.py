"""Optional trackers: what verl is told, what is refused, and that no key is written anywhere."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_overrides import PATHS, compose

from components.core.errors import ConfigError
from components.core.spec import load_experiment
from components.engine.environment import training_environment
from components.engine.overrides import environment_overrides, render_command, verl_overrides
from components.engine.trackers import check_trackers, tracking_environment

KEY = "0123456789abcdef0123456789abcdef01234567"
WITH_PASSWORD = "https://me:hush-hush@127.0.0.1/"  # secrets: allow (nobody's)
FAKE = """
import json, os
class Settings: ...
def _note(**what):
    with open(os.environ["FAKE_LOG"], "a") as file:
        file.write(json.dumps(what) + "\\n")
def init(project, name, entity, config, settings):
    _note(call="init", project=project, name=name, group=os.environ.get("WANDB_RUN_GROUP"), config=config)
def log(data, step):
    _note(call="log", data=data, step=step)
def finish(exit_code=0): ...
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on sys.path with fake packages; nothing of either is set."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "wandb.py").write_text(FAKE)
    (folder / "mlflow.py").write_text("")
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in os.environ if name.startswith(("WANDB_", "MLFLOW_"))]:
        monkeypatch.delenv(name)
    return folder


def training(*trackers: str) -> Any:
    return load_experiment("tiny", [f"training.trackers=[{','.join(trackers)}]"]).training


def test_verl_logs_to_what_is_named_and_to_its_files() -> None:
    named = compose("training.trackers=[wandb, mlflow]").trainer
    assert list(named.logger) == ["console", "tensorboard", "file", "wandb", "mlflow"]
    assert (named.project_name, named.experiment_name) == ("gavel", "quickstart")


@pytest.mark.parametrize("value", ["[comet]", "[wandb, wandb]", "wandb"])
def test_other_names_and_repetitions_are_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="trackers"):
        load_experiment("tiny", [f"training.trackers={value}"])


def test_who_looks_on_changes_no_result() -> None:
    plain, watched = load_experiment("tiny"), load_experiment("tiny", ["training.trackers=[wandb]"])
    assert plain.training_identity() == watched.training_identity()


def test_without_trackers_wandb_is_shut_off_and_nothing_is_asked_for(tmp_path: Path) -> None:
    check_trackers(training(), {})
    experiment = load_experiment("tiny")
    found = training_environment(experiment, settings=tmp_path, metrics=tmp_path, work=tmp_path)
    assert found["WANDB_MODE"] == "disabled"


def test_files_of_wandb_lie_in_the_folder_that_the_guide_names(tmp_path: Path) -> None:
    # wandb's own settings say where: it puts a folder of its name into what the variable names.
    real = pytest.importorskip("wandb")
    work = tmp_path / "work" / "tiny" / "train-grpo" / "0123456789abcdef"
    settings = real.Settings()
    settings.update_from_env_vars(tracking_environment(training("wandb"), work))
    assert Path(settings.wandb_dir) == tmp_path / "wandb"


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda asked: None)
    everything = {"WANDB_API_KEY": KEY, "MLFLOW_TRACKING_URI": "http://127.0.0.1:5000"}
    with pytest.raises(ConfigError, match=f"the package {name} is not installed"):
        check_trackers(training(name), everything)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "environment", "missing"),
    [
        ("wandb", {}, "WANDB_API_KEY is not set"),
        ("wandb", {"WANDB_API_KEY": " "}, "WANDB_API_KEY is not set"),
        ("wandb", {"WANDB_MODE": "online"}, "WANDB_API_KEY is not set"),
        ("mlflow", {}, "MLFLOW_TRACKING_URI is not set"),
    ],
)
def test_what_is_not_set_is_named(name: str, environment: dict[str, str], missing: str) -> None:
    with pytest.raises(ConfigError, match=missing):
        check_trackers(training(name), environment)


@pytest.mark.usefixtures("packages")
def test_what_is_set_is_enough() -> None:
    check_trackers(training("wandb"), {"WANDB_API_KEY": KEY})
    check_trackers(training("wandb"), {"WANDB_MODE": "offline"})
    check_trackers(training("mlflow"), {"MLFLOW_TRACKING_URI": "http://127.0.0.1:5000"})


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("mlflow", {"MLFLOW_TRACKING_URI": WITH_PASSWORD}),
        ("wandb", {"WANDB_API_KEY": KEY, "WANDB_BASE_URL": WITH_PASSWORD}),
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(name: str, environment: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="holds a password") as caught:
        check_trackers(training(name), environment)
    assert "hush" not in str(caught.value)


@pytest.mark.usefixtures("packages")
def test_the_key_reaches_the_trainer_and_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    experiment = load_experiment("tiny", ["training.trackers=[wandb]"])
    work = tmp_path / "work" / "tiny" / "train-grpo" / "ab12"
    environment = training_environment(experiment, settings=tmp_path, metrics=tmp_path, work=work)
    assert environment["WANDB_API_KEY"] == KEY
    assert environment["WANDB_RUN_GROUP"] == "ab12"
    assert environment["WANDB_DIR"] == str(tmp_path)
    assert "WANDB_MODE" not in environment
    overrides = [*verl_overrides(experiment, PATHS), *environment_overrides(environment)]
    assert "WANDB_RUN_GROUP" in str(overrides)
    assert KEY not in render_command(overrides)
    assert KEY not in experiment.to_json()


def test_a_key_in_the_experiment_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_experiment("tiny", [f"training.wandb_api_key={KEY}"])
    assert KEY not in str(caught.value)


def test_verl_logs_its_metrics_to_the_package(packages: Path, tmp_path: Path) -> None:
    pytest.importorskip("verl")
    script = (
        "from verl.utils.tracking import Tracking\n"
        "from components.engine.trackers import loggers\n"
        "from components.core.spec import load_experiment\n"
        "training = load_experiment('tiny', ['training.trackers=[wandb]']).training\n"
        "names = [name for name in loggers(training) if name != 'tensorboard']\n"
        "Tracking('gavel', 'tiny', names, {'trainer': {}}).log({'critic/score/mean': 0.5}, step=3)\n"
    )
    paths = [str(packages), str(Path(__file__).parents[2])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "FAKE_LOG": str(tmp_path / "log"),
        "VERL_FILE_LOGGER_PATH": str(tmp_path / "metrics.jsonl"),
        "WANDB_API_KEY": KEY,
        "WANDB_RUN_GROUP": "ab12",
    }
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, cwd=tmp_path, capture_output=True)
    started, logged = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert (started["project"], started["name"], started["group"]) == ("gavel", "tiny", "ab12")
    assert logged == {"call": "log", "data": {"critic/score/mean": 0.5}, "step": 3}
    assert KEY not in (tmp_path / "log").read_text()
    # The step's own file is written all the same.
    assert json.loads((tmp_path / "metrics.jsonl").read_text())["step"] == 3
