"""Files of the Hugging Face hub, or of a mirror that serves them under the same addresses."""

import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.core.errors import ContractError, StorageError

if TYPE_CHECKING:
    from components.core.spec.mixture import HubFile

ENDPOINT: Final = "https://huggingface.co"
"""Unless HF_ENDPOINT names a mirror."""
ATTEMPTS: Final = 4
TIMEOUT_SECONDS: Final = 30.0
"""For one answer of the server, not for the whole file."""
_CHUNK: Final = 1 << 20


def hub_url(file: "HubFile") -> str:
    """Where the file is to be had: by commit, so that it cannot change."""
    endpoint = (os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    return f"{endpoint}/datasets/{file.repo}/resolve/{file.revision}/{urllib.parse.quote(file.file)}"


def download(url: str, path: Path, *, pause: float = 1.0) -> None:
    """Write what the address gives to ``path``, whole or not at all.

    HF_TOKEN, where it is set, is sent to the address itself and to none that it leads on to.

    Args:
        url: http or https.
        path: its folder must exist.
        pause: seconds before the second attempt, doubled each time.

    Raises:
        ContractError: there is no such file, or it may not be read.
        StorageError: the server fails or cannot be reached, also when asked again.
    """
    if not url.startswith(("https://", "http://")):
        raise ContractError("no address of a hub", where=url, remedy="set HF_ENDPOINT to an http or https address")
    partial = path.with_name(f".{path.name}.partial")
    trouble = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            _once(url, partial)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code not in (408, 429):
                remedy = "correct repo, revision and file" if error.code == 404 else "set HF_TOKEN, if you have access"
                raise ContractError(f"the hub answers {error.code} {error.reason}", where=url, remedy=remedy) from error
            trouble = f"{error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            trouble = str(getattr(error, "reason", error)) or type(error).__name__
        else:
            partial.replace(path)
            return
    raise StorageError(
        f"the hub does not give the file in {ATTEMPTS} attempts: {trouble}",
        where=url,
        remedy="try again later, set HF_ENDPOINT to a mirror, or name a local path",
    )


def _once(url: str, partial: Path) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "gavel"})
    if token := os.environ.get("HF_TOKEN"):
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer, partial.open("wb") as target:
        expected, size = answer.headers.get("Content-Length"), 0
        while chunk := answer.read(_CHUNK):
            target.write(chunk)
            size += len(chunk)
    if expected is not None and size != int(expected):
        raise OSError(f"the connection ended after {size} of {expected} bytes")
