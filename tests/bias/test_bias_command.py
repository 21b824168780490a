"""The command that probes one judge says what is wrong with what it is given, before anybody is asked."""

from pathlib import Path

import pytest
from aiohttp import web

from components.bias.__main__ import main
from components.bias.scripted import cli

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


@pytest.mark.parametrize("command", [PROBE, ["rewrite", "--model", "smollm2-chat", "--endpoint", "http://127.0.0.1:9"]])
def test_a_judge_that_is_not_there_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    # As long as the least that a transport waits between two attempts; the command's own patience is no test's.
    monkeypatch.setattr("components.judge.answering._PATIENCE", 0.2)
    assert main([*command, "--output", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "the judge does not answer" in told
    assert "endpoint http://127.0.0.1:9" in told
    assert not (tmp_path / "out" / "outcomes.parquet").exists()


def test_an_endpoint_that_is_no_address_is_an_error_and_no_table_of_refusals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*PROBE, "--endpoint", "somewhere", "--output", str(tmp_path / "out")]) == 1
    assert "not a URL" in capsys.readouterr().err
    assert not (tmp_path / "out" / "outcomes.parquet").exists()


def test_where_nothing_is_left_to_ask_nobody_is_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PROBE, "--modes", "binary", "--output", str(tmp_path / "out")]) == 1
    told = capsys.readouterr()
    assert "one response alone has no place" in told.out
    assert "nothing is left to ask" in told.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_items_that_is_not_there_is_told_whatever_is_probed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "none")
    for command in (["list"], [*PROBE, "--output", str(tmp_path / "out")]):
        assert main([*command, "--mounted", missing]) == 1
        told = capsys.readouterr()
        assert missing in told.err
        assert told.out == ""


def test_a_folder_without_items_is_told_whatever_is_probed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "items"
    empty.mkdir()
    (empty / "readme.md").write_text("Items will come here.", encoding="utf-8")
    for command in (["list"], [*PROBE, "--output", str(tmp_path / "out")]):
        assert main([*command, "--mounted", str(empty)]) == 1
        told = capsys.readouterr()
        assert "no file in the folder has a name that is looked for" in told.err
        assert str(empty) in told.err
        assert "responses*.jsonl" in told.err
        assert told.out == ""
    assert not (tmp_path / "out").exists()


def test_names_may_stand_with_spaces_around_their_commas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [*PROBE, "--probes", "position, style", "--modes", "pairwise, binry", "--output", str(tmp_path / "out")]
    assert main(given) == 1
    assert "there is no mode 'binry'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--items=0", "--items=x", "--repeats=-1", "--seed=-1"])
def test_a_number_that_is_none_is_refused_by_its_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*PROBE, option, "--output", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert f"argument {option.partition('=')[0]}: " in capsys.readouterr().err


def test_rewriting_tells_a_file_in_the_place_of_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("a file")
    assert main(["rewrite", "--model", "smollm2-chat", "--output", str(tmp_path / "out")]) == 1
    assert f"--output {tmp_path / 'out'}" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_and_one_that_is_none_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_: object, **__: object) -> None:
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(web, "run_app", taken)
    assert main(["scripted", "--port", "8123"]) == 1
    told = capsys.readouterr()
    assert "Address already in use" in told.err
    assert "--host 127.0.0.1 --port 8123" in told.err
    assert told.out == ""
    with pytest.raises(SystemExit):
        cli.main(["--port", "70000"])
