"""Moves a folder as a process of its own: ``python upload_child.py upload|download URL FOLDER PREFIX [PART_BYTES]``.

Prints, as JSON, what was sent and kept and by how much its memory grew at most (MB).
"""

import json
import resource
import sys
from pathlib import Path

from components.core.store import Store, s3, transfer


def main(action: str, url: str, folder: str, prefix: str, part: str = "") -> None:
    if part:
        s3.PART_SIZE = transfer.PART_SIZE = int(part)
    store = Store.open(url)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    moved = store.upload(Path(folder), prefix) if action == "upload" else store.download(prefix, Path(folder))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"sent": moved.sent_bytes, "kept": moved.kept_bytes, "grown": (after - before) / 1024}))


if __name__ == "__main__":
    main(*sys.argv[1:])
