"""Published folders, wherever they lie, as folders of this machine."""

from collections.abc import Sequence
from pathlib import Path

from components.core.errors import StorageError
from components.core.progress import Progress
from components.core.step.results import open_sources
from components.core.store import Store
from components.core.store.keys import split_file_url, split_uri


def fetch(uri: str, folder: Path, progress: Progress, patterns: Sequence[str]) -> Path:
    """The files of a folder that match one of ``patterns``.

    Args:
        uri: a path, a ``file://`` URL, or ``s3://bucket/...`` of a published folder, whose content is then verified.
        folder: where files from a bucket are put.
        progress: is told of a download.
        patterns: shell patterns of their paths.

    Returns:
        The folder itself where it lies on this machine.

    Raises:
        StorageError: there is no such folder, or its files are not what its manifest says.
    """
    if uri.startswith("s3://"):
        head, _ = split_uri(uri)
        (source,) = open_sources(Store.open(head), {"it": uri}).values()
        return source.fetch(folder, progress, patterns)
    path = Path(split_file_url(uri) if uri.startswith("file:") else uri)
    if not path.is_dir():
        raise StorageError("there is no such folder", where=uri, remedy="give a folder, a file:// or an s3:// URL")
    return path.absolute()
