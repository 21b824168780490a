"""What make does with variables: each reaches its command, or is refused."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from components.ifeval.__main__ import _parser

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What make would run; it runs nothing."""
    (tmp_path / ".ready").touch()
    return subprocess.run(
        ["make", "-n", f"VENV={tmp_path}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    )


def words(done: subprocess.CompletedProcess[str], module: str) -> list[str]:
    assert done.returncode == 0, done.stderr
    line = done.stdout.replace("\\\n", " ").splitlines()
    (command,) = (each for each in line if module in each)
    return shlex.split(command)


def test_every_option_of_ifeval_is_a_variable(tmp_path: Path) -> None:
    options = {option for action in _parser()._actions for option in action.option_strings if option.startswith("--")}
    names = {option.removeprefix("--").upper().replace("-", "_") for option in options} - {"HELP"}
    given = words(make(tmp_path, "ifeval", *(f"{name}=7" for name in names)), "components.ifeval")
    assert {word.split("=")[0] for word in given if word.startswith("--")} == options - {"--help"}


def test_flags_of_ifeval_are_set_by_anything_but_0(tmp_path: Path) -> None:
    given = words(
        make(tmp_path, "ifeval", "CORRECTED=0", "ALLOW_MISSING=1", "SYSTEM_PROMPT=it's a"), "components.ifeval"
    )
    assert "--corrected" not in given
    assert "--allow-missing" in given
    assert "--system-prompt=it's a" in given


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "EXPERIMENT=tiny", "JUDGE=other"], 'SET="judge=other"'),
        (["show", "REWARD=rule-only"], 'SET="reward=rule-only"'),
        (["eval", "CHECKPOINT=c", "REWARD=verif"], 'SET="reward=verif"'),
        (["demo", "EXPERIMENT=tiny"], "knows no variable EXPERIMENT"),
        (["merge", "CHECKPOINT=c", "OUTPUT=t"], "knows no variable OUTPUT"),
        (["ifeval", "MODEL=m", "MAX_TOKEN=3"], "knows no variable MAX_TOKEN"),
        (["rescore", "GENERATION=g"], "knows no variable GENERATION"),
        (["mixed", "MODEL=tiny", "CHECKPOINT=c"], "knows no variable CHECKPOINT"),
        (["mixed-eval", "MODEL=tiny", "POLICY=p"], 'SET="policy=p"'),
    ],
)
def test_a_variable_that_would_do_nothing_is_refused(tmp_path: Path, arguments: list[str], told: str) -> None:
    done = make(tmp_path, *arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_rescore_takes_no_experiment_by_default(tmp_path: Path) -> None:
    given = words(make(tmp_path, "rescore", "DATA=d", "OUTPUT=o"), "components.score")
    assert given[given.index("--experiment") + 1] == ""
    given = words(make(tmp_path, "rescore", "DATA=d", "OUTPUT=o", "EXPERIMENT=tiny"), "components.score")
    assert given[given.index("--experiment") + 1] == "tiny"
    assert "--judge" not in " ".join(given)


def test_mixed_takes_the_experiment_that_is_named_alone(tmp_path: Path) -> None:
    given = words(make(tmp_path, "mixed", "MODEL=it's/a model", "SKIP_DATA=1", "SET=seed=3"), "pipelines mixed")
    assert given[-4:] == ["MODEL=it's/a model", "EXPERIMENT=", "SKIP_DATA=1", "seed=3"]
    given = words(make(tmp_path, "mixed-eval", "CHECKPOINT=c", "EXPERIMENT=mine", "BASE=1"), "pipelines mixed-eval")
    assert given[-5:] == ["MODEL=", "CHECKPOINT=c", "EXPERIMENT=mine", "BASE=1", "SKIP_DATA="]


def test_data_takes_an_experiment_and_changes(tmp_path: Path) -> None:
    given = words(make(tmp_path, "data", "EXPERIMENT=mixed_small", "SET=seed=3"), "pipelines data")
    assert given[-2:] == ["mixed_small", "seed=3"]
    assert "EXPERIMENT=mine" in make(tmp_path, "data", "mine").stderr


def test_looking_on_hands_everything_to_its_command(tmp_path: Path) -> None:
    given = words(make(tmp_path, "monitor", "RUN=a run", "EVERY=2", "LAST=3", "ONCE=1"), "components.monitor")
    assert given[-5:] == ["live", "a run", "--every=2", "--last=3", "--once"]
    given = words(make(tmp_path, "analyze", "RUN=r", "STEPS=1-2", "RANGES=3", "CSV=t"), "components.monitor")
    assert given[-5:] == ["analyze", "r", "--steps=1-2", "--ranges=3", "--csv=t"]
    assert words(make(tmp_path, "monitor", "RUN=r", "ONCE=0"), "components.monitor")[-2:] == ["live", "r"]
