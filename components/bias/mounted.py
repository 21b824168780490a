"""Data sets that the user mounts as a folder, found by their own formats."""

import dataclasses
from pathlib import Path

from components.core.errors import ContractError
from components.core.manifest import content_sha256, scan_folder


@dataclasses.dataclass(frozen=True, slots=True)
class Mounted:
    """A folder with data sets; None mounts nothing."""

    folder: Path | None = None

    def files(self, *patterns: str) -> list[Path]:
        """The files below the folder that fit any of the patterns, each once, in order.

        Raises:
            ContractError: there is no such folder.
        """
        self.check()
        if self.folder is None:
            return []
        return sorted({path for pattern in patterns for path in self.folder.rglob(pattern) if path.is_file()})

    def check(self) -> None:
        """See that the folder is there, whether or not a probe looks for anything in it.

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
        self.check()
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
