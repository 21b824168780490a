"""The command that probes one judge says what is wrong with what it is given, before anybody is asked."""

from pathlib import Path

import pytest

from components.bias.__main__ import main

PROBE = ["probe", "--judge", "smollm2-chat", "--endpoint", "http://127.0.0.1:9", "--probes", "position", "--items", "2"]


def test_a_mode_that_there_is_not_is_told_with_those_that_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*PROBE, "--modes", "pairwise,nothing", "--output", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "'nothing'" in told
    assert "pairwise, pointwise, binary" in told
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("a file")
    assert main([*PROBE, "--output", str(tmp_path / "out")]) == 1
    assert f"--output {tmp_path / 'out'}" in capsys.readouterr().err
