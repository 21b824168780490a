"""Data sets that the user mounts as a folder, found by their own formats."""

import dataclasses
from pathlib import Path


@dataclasses.dataclass(frozen=True, slots=True)
class Mounted:
    """A folder with data sets; None mounts nothing."""

    folder: Path | None = None

    def files(self, *patterns: str) -> list[Path]:
        """The files below the folder that fit any of the patterns, each once, in order."""
        if self.folder is None:
            return []
        return sorted({path for pattern in patterns for path in self.folder.rglob(pattern) if path.is_file()})


NOTHING = Mounted()
