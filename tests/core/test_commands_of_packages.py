"""Packages with several commands: help is output, and a mistake is an error with what there is."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from components.bias.__main__ import main as bias
from components.judge.__main__ import main as judge
from components.score.__main__ import main as score
from components.workflow.__main__ import main as workflow

MAINS = pytest.mark.parametrize("main", [bias, judge, score, workflow])


@MAINS
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_that_was_asked_for_goes_to_the_output(
    main: Callable[..., int], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([flag]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("usage: python -m components.")
    assert told.err == ""


@MAINS
def test_a_command_that_there_is_not_is_an_error_with_those_that_there_are(
    main: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nothing"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: no command 'nothing'; there are: ")
    assert main([]) == 2
    assert "error" not in capsys.readouterr().err


def test_one_who_reads_no_further_gets_no_traceback() -> None:
    shown = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1);"
            "from components.bias.__main__ import main; sys.exit(main(['list']))",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
