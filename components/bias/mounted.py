"""Data sets that the user mounts as a folder, found by their own formats."""

import dataclasses
from pathlib import Path

from components.core.errors import ContractError


@dataclasses.dataclass(frozen=True, slots=True)
class Mounted:
    """A folder with data sets; None mounts nothing."""

    folder: Path | None = None

    def files(self, *patterns: str) -> list[Path]:
        """The files below the folder that fit any of the patterns, each once, in order.

        Raises:
            ContractError: there is no such folder.
        """
        if self.folder is None:
            return []
        if not self.folder.is_dir():
            # Not the same as an empty one: probes would be run without the data that somebody counts on.
            raise ContractError("there is no such folder", where=str(self.folder), remedy="mount it, or name another")
        return sorted({path for pattern in patterns for path in self.folder.rglob(pattern) if path.is_file()})


NOTHING = Mounted()
