"""Making the store's bucket: what the job gavel-bucket runs inside the cluster."""

import time
from collections.abc import Callable

from components.cluster_setup.unfinished import end_unfinished
from components.core.errors import StorageError
from components.core.store.s3_client import S3Settings, check_bucket


def ensure(
    bucket: str, *, seconds: float = 300.0, pause: float = 3.0, sleep: Callable[[float], None] = time.sleep
) -> None:
    """See that the bucket is there, and make it if it is not; give it a rule that ends unfinished uploads, where the
    store takes one. A store that is still starting is waited for.

    Args:
        bucket: its name; the server and the credentials come from the environment.
        seconds: how long to try. What waiting does not mend (wrong keys) is tried as long: a fresh server refuses
            for a moment.
        pause: between two tries, in seconds.
        sleep: for tests.

    Raises:
        StorageError: of the last try.
    """
    settings = S3Settings.from_environment()
    end = time.monotonic() + seconds
    while True:
        try:
            check_bucket(settings, bucket, create=True)
            told = end_unfinished(settings, bucket)
        except StorageError as error:
            if time.monotonic() + pause >= end:
                raise
            print(f"not yet: {error.what}", flush=True)
            sleep(pause)
        else:
            print(f"bucket {bucket} is there; {told}", flush=True)
            return
