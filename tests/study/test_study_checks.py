"""What a study asks of its judges is looked at before anything starts, and told with the place where it is written."""

from pathlib import Path

import pytest

from components.bias.probe import all_probes
from components.bias.scripted.axes import AXES
from components.core import scripted_axes
from components.core.errors import ConfigError
from components.core.spec.study_load import load_study
from components.study.checks import check_probes


def study(folder: Path, probes: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(
        "experiment: {use: tiny, training: {steps: 2}}\njudges:\n  - {judge: scripted-longer, rewards: [rubric]}\n"
        f"drift: null\ncontrols: []\nprobes:\n{probes}",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("probes", "line", "words"),
    [
        ("  items: 12\n  names:\n    - verbosity\n    - sytle\n", 10, "did you mean style?"),
        ("  names: [all, style]\n", 7, "all stands for every probe"),
        ("  names: [style]\n  mounted: nowhere\n", 8, "there is no folder nowhere"),
        (f"  names: [style]\n  mounted: {'m' * 300}\n", 8, "there is no folder mmm"),
        ("  names: [style]\n  mounted: .\n", 8, "no file in the folder has a name that is looked for: ."),
    ],
)
def test_what_there_is_not_is_told_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probes: str, line: int, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = load_study(study(tmp_path, probes))
    with pytest.raises(ConfigError) as caught:
        check_probes(loaded)
    assert words in str(caught.value)
    assert f"mine.yaml:{line}" in str(caught.value)


def test_all_of_it_is_told_at_once_and_an_override_by_its_key(tmp_path: Path) -> None:
    loaded = load_study(study(tmp_path, "  names: [a, style, b]\n"), ["probes.mounted=nowhere"])
    with pytest.raises(ConfigError, match="3 mistakes in study mine") as caught:
        check_probes(loaded)
    assert "command line (probes.mounted=...)" in str(caught.value)


def test_what_there_is_passes(tmp_path: Path) -> None:
    (tmp_path / "responses.jsonl").touch()
    for names in ("[all]", f"[{', '.join(all_probes())}]"):
        check_probes(load_study(study(tmp_path, f"  names: {names}\n  mounted: {tmp_path}\n")))


def test_the_axes_that_a_specification_may_name_are_those_that_a_scripted_judge_has() -> None:
    assert set(scripted_axes.AXES) == set(AXES)
