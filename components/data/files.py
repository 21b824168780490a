"""Reading a user's own file of prompts, from a folder or a bucket."""

import hashlib
from pathlib import Path

from components.core.errors import ContractError
from components.core.store import Store


def read_source(source: str, sha256: str | None) -> bytes:
    """The content of a file.

    Args:
        source: a path, or a URL such as ``s3://bucket/folder/prompts.jsonl``.
        sha256: what the content must hash to (hex); None: anything.

    Raises:
        ContractError: there is no such file, or its content is another than the experiment names.
        StorageError: the store cannot be reached.
    """
    if "://" in source:
        folder, _, name = source.rpartition("/")
        content = Store.open(folder).read_bytes(name)
    else:
        try:
            content = Path(source).read_bytes()
        except OSError as error:
            raise ContractError(
                f"the file of prompts cannot be read: {error.strerror}",
                where=source,
                remedy="name a file that can be read: data.path, or evaluation.ifeval.path",
            ) from error
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise ContractError(
            f"the file of prompts has sha256 {found}, the experiment names {sha256}",
            where=source,
            remedy="the file changed since the experiment was resolved: start again, or correct its sha256",
        )
    return content
