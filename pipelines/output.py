"""What a person sees of a local run: the steps' own lines, without what KFP says about its executor."""

import io
import re
from pathlib import Path
from typing import TextIO

_INDENT = "    "
_DUMP = "Got executor_input:"
_DROPPED = re.compile(
    r"\[KFP Executor |-{20,}$|\d\d:\d\d:\d\d\.\d{3} - (INFO|ERROR|WARNING) - "  # KFP's own lines
    r"|\w+: (Dataset|Model|Metrics|HTML|Artifact)\( name=|\s+(uri|metadata)='?"  # a task's outputs
    r"|(experiment|store): '|(ifeval|base|judged): (True|False)$"  # those of resolve
    r"|.*(Warning: |_warn_local|warnings\.warn\()"  # about settings that only a cluster has
    r"|(Loading weights|Writing model shards):|\[?[WI]\d{4} \d\d:\d\d"  # transformers, torch
    r"|(\(\w+ pid=\d+\) )?((DEBUG|INFO|WARNING) \d\d-\d\d \d\d:\d\d:\d\d \[|$)"  # vLLM, and its engine's process
    r"|(Capturing CUDA graphs|Loading \w+ checkpoint shards)\b.*it/s"
)


class StepOutput(io.TextIOBase):
    """Takes what the local runner prints; keeps everything in a file, and passes on what is worth reading."""

    def __init__(self, shown: TextIO, log: Path) -> None:
        """Pass lines on to ``shown``, and write all of them to ``log``."""
        super().__init__()
        self._shown = shown
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("a", encoding="utf-8")
        self._rest = ""
        self._in_dump = False

    def write(self, text: str) -> int:
        """Take text; whole lines are handled at once."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._log.write(line + "\n")
            if self.keeps(line):
                self._shown.write(line.removeprefix(_INDENT) + "\n")
                self._shown.flush()
        self._log.flush()
        return len(text)

    def keeps(self, line: str) -> bool:
        """Whether a person is to see the line."""
        line = line.removeprefix(_INDENT)
        if self._in_dump:
            self._in_dump = line != "}"
            return False
        if _DUMP in line:
            self._in_dump = True
            return False
        return bool(line.strip()) and not _DROPPED.match(line)

    def writable(self) -> bool:
        """It is."""
        return True

    def flush(self) -> None:
        """Nothing is held back but an unfinished line."""

    def close(self) -> None:
        """Write out what is left, and close the log."""
        if not self._log.closed:
            if self._rest:
                self.write("\n")
            self._log.close()
        super().close()
