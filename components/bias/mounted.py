"""Data sets that the user mounts as a folder, found by their own formats."""

import dataclasses
import enum
import itertools
from pathlib import Path
from typing import Final

from components.core.errors import ContractError
from components.core.manifest import content_sha256, scan_folder


class DataSet(enum.Enum):
    """What is looked for in a mounted folder: patterns of the files' names, anywhere below it."""

    LLMBAR = ("LLMBar/**/dataset.json", "llmbar_*.json")
    JUDGEBENCH = ("*judgebench*.jsonl",)
    MTBENCH_QUESTIONS = ("question.jsonl", "mtbench_question.jsonl")
    MTBENCH_REFERENCES = ("reference_answer/*.jsonl", "mtbench_reference*.jsonl")
    RESPONSES = ("responses*.jsonl",)
    REFINEMENTS = ("refinements*.jsonl",)


_MTBENCH: Final = frozenset({DataSet.MTBENCH_QUESTIONS, DataSet.MTBENCH_REFERENCES})
"""Questions are asked with their reference answers, so that neither is anything without the other."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mounted:
    """A folder with data sets; None mounts nothing."""

    folder: Path | None = None

    def files(self, data: DataSet) -> list[Path]:
        """The files of a data set below the folder, each once, in order.

        Raises:
            ContractError: there is no such folder.
        """
        self.check_there()
        if self.folder is None:
            return []
        return sorted({path for pattern in data.value for path in self.folder.rglob(pattern) if path.is_file()})

    def check(self) -> None:
        """See that the folder is there and has a file that can be read, whichever probes look for it.

        Raises:
            ContractError: it is not, none of its files has a name that is looked for, or there is a half of MT-Bench
                alone.
        """
        self.check_there()
        if self.folder is None:
            return
        found = {data for data in DataSet if self.files(data)}
        # One who names a folder counts on its items; without any, the probes would be run on the shipped ones alone.
        if len(found) == 1 and found < _MTBENCH:
            (there,), (missing,) = found, _MTBENCH - found
            raise ContractError(
                f"the folder has {' or '.join(there.value)} of MT-Bench alone, of which nothing can be asked",
                where=str(self.folder),
                remedy=f"put {' or '.join(missing.value)} beside it",
            )
        if found:
            return
        names = ", ".join(itertools.chain.from_iterable(data.value for data in DataSet))
        raise ContractError(
            "no file in the folder has a name that is looked for",
            where=str(self.folder),
            remedy=f"put there any of {names}, or mount the folder above; docs/probes.md has the formats",
        )

    def check_there(self) -> None:
        """See that the folder is there.

        Raises:
            ContractError: it is not.
        """
        if self.folder is None:
            return
        try:
            there = self.folder.is_dir()
        except (OSError, ValueError) as error:
            raise ContractError(f"no folder has such a name: {error}"[:300], where="mounted data") from error
        if not there:
            # Not the same as an empty one: probes would be run without the data that somebody counts on.
            raise ContractError("there is no such folder", where=str(self.folder), remedy="mount it, or name another")

    def sha256(self) -> str | None:
        """Hash of all that lies in the folder; None where nothing is mounted.

        Raises:
            ContractError: there is no such folder, or it holds something that is neither a file nor a folder.
        """
        self.check_there()
        if self.folder is None:
            return None
        try:
            return content_sha256(scan_folder(self.folder))
        except ContractError as error:
            raise ContractError(
                "among the data sets lies what is neither a file nor a real folder",
                where=error.where,
                remedy="take it out: a pipe may never end, and a link to a folder may lead anywhere",
            ) from error


NOTHING = Mounted()
