"""Keys and URLs of stores."""

import re
from urllib.parse import unquote, urlsplit

from components.core.errors import StorageError

_ADDRESS = re.compile(r"(\d+\.){3}\d+")
_BUCKET = re.compile(r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")


def check_key(key: str, *, folder: bool = False) -> str:
    """The key without slashes at its ends.

    Raises:
        StorageError: it is empty (allowed for a folder), absolute, or climbs out with ``..``.
    """
    if not key and folder:
        return ""
    clean = key.rstrip("/") if folder else key
    if not clean or any(part in ("", ".", "..") for part in clean.split("/")) or "\x00" in clean or "\\" in clean:
        raise StorageError(f"not a key of a store: {key!r}", remedy="use names joined by single slashes, without '..'")
    return clean


def join(*parts: str) -> str:
    """Parts joined by slashes, empty ones left out."""
    return "/".join(part.strip("/") for part in parts if part.strip("/"))


def split_file_url(url: str) -> str:
    """The absolute path of a ``file://`` URL, or of a plain absolute path."""
    if url.startswith("/"):
        return url
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost") or not path.startswith("/"):
        raise StorageError(f"not an absolute file URL: {url}", remedy="write file:///absolute/folder")
    return path


def split_s3_url(url: str) -> tuple[str, str]:
    """Bucket and prefix of ``s3://bucket/prefix``."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    bucket = parts.netloc
    if not _BUCKET.fullmatch(bucket) or ".." in bucket or _ADDRESS.fullmatch(bucket):
        raise StorageError(
            f"not an S3 URL with a bucket: {url}",
            remedy="write s3://BUCKET/PREFIX; a bucket has 3 to 63 lower-case letters, digits, dots or hyphens",
        )
    return parts.netloc, check_key(parts.path.strip("/"), folder=True)


def join_url(url: str, key: str) -> str:
    """A URL with a key below it."""
    return f"{url.rstrip('/')}/{key.strip('/')}" if key.strip("/") else url.rstrip("/")


def split_uri(uri: str) -> tuple[str, str]:
    """A published folder's URI as the URL of the store that holds it and the last part as key."""
    head, _, tail = uri.rstrip("/").rpartition("/")
    return head, tail
