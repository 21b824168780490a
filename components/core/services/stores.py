"""The store that an experiment's cluster names, started where it is a server of this machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager

if TYPE_CHECKING:
    from components.core.spec.cluster import StoreSpec


def start_store(store: "StoreSpec", state: Path, manager: ServiceManager | None = None) -> str:
    """The URL of the store's root; for S3 the client's settings are put into the environment.

    Raises:
        ServiceError: the embedded server does not start.
    """
    if store.kind == "folder":
        return store.url or (state / "store").as_uri()
    if store.kind == "s3":
        os.environ["GAVEL_S3_ENDPOINT"] = str(store.endpoint)
        return store.url or f"s3://{store.bucket}"
    bucket = store.bucket or seaweedfs.BUCKET
    os.environ.update(seaweedfs.start(state, bucket=bucket, manager=manager))
    return f"s3://{bucket}"
