"""Connecting to S3 with the settings of the environment, within bounded time."""

import logging
import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import certifi
import urllib3
from minio import Minio
from minio.error import S3Error

from components.core.errors import StorageError
from components.core.store.s3_errors import Place, s3_errors
from components.core.within import within

ENDPOINT_VARIABLE = "GAVEL_S3_ENDPOINT"
ACCESS_VARIABLE = "AWS_ACCESS_KEY_ID"
SECRET_VARIABLE = "AWS_SECRET_ACCESS_KEY"
REGION_VARIABLE = "AWS_REGION"
TOKEN_VARIABLE = "AWS_SESSION_TOKEN"
_DEFAULT_REGION = "us-east-1"
_REGION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
_CONNECT_SECONDS = 3.0
_CHECK_READ_SECONDS = 6.0
_CHECK_SECONDS = 15.0
"""For the whole check of a bucket."""
_READ_SECONDS = 60.0
_POOL = 16

# It warns of each try; what is left after the last one reaches the user as an error of ours.
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


@dataclass(frozen=True)
class S3Settings:
    """Where an S3 server is and how it knows us; never printed with its secret."""

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = _DEFAULT_REGION
    session_token: str | None = field(default=None, repr=False)
    """For temporary credentials."""

    @classmethod
    def from_environment(cls) -> "S3Settings":
        """From GAVEL_S3_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION.

        Raises:
            StorageError: one is missing, or the endpoint is no URL.
        """
        missing = [name for name in (ENDPOINT_VARIABLE, ACCESS_VARIABLE, SECRET_VARIABLE) if not os.environ.get(name)]
        if missing:
            raise StorageError(
                f"an S3 store needs {' and '.join(missing)} in the environment",
                remedy="set them (see .env.example), or use a folder store: file:///absolute/folder",
            )
        return cls(
            os.environ[ENDPOINT_VARIABLE].rstrip("/"),
            os.environ[ACCESS_VARIABLE],
            os.environ[SECRET_VARIABLE],
            os.environ.get(REGION_VARIABLE) or _DEFAULT_REGION,
            os.environ.get(TOKEN_VARIABLE) or None,
        )

    def __post_init__(self) -> None:
        for variable, value in self._sent().items():
            if not all(" " < character <= "~" for character in value):
                # An HTTP library would quote the value in its complaint.
                raise StorageError(
                    "it holds a space, a line end or another character that no credential has",
                    where=variable,
                    remedy=f"set {variable} anew, without what surrounds it",
                )
        if not _REGION.fullmatch(self.region):
            raise StorageError(f"not a region: {self.region!r}", where=REGION_VARIABLE, remedy="such as us-east-1")
        # Before anything reads it as a URL: a password may hold what a URL's parser would quote in its complaint.
        if "@" in self.endpoint:
            raise StorageError(
                "the endpoint of an S3 server must not hold credentials",
                where=ENDPOINT_VARIABLE,
                remedy=f"put them into {ACCESS_VARIABLE} and {SECRET_VARIABLE}",
            )
        try:
            parts = urlsplit(self.endpoint)
            _ = parts.port
        except ValueError as error:
            raise StorageError(
                f"not an endpoint of an S3 server: {error}",
                where=ENDPOINT_VARIABLE,
                remedy="write http://HOST:PORT or https://HOST, without a path",
            ) from None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
            raise StorageError(
                f"not an endpoint of an S3 server: {self.endpoint}",
                where=ENDPOINT_VARIABLE,
                remedy="write http://HOST:PORT or https://HOST, without a path",
            )

    def _sent(self) -> dict[str, str]:
        """What stands in the headers of every request."""
        return {
            ACCESS_VARIABLE: self.access_key,
            SECRET_VARIABLE: self.secret_key,
            TOKEN_VARIABLE: self.session_token or "",
            REGION_VARIABLE: self.region,
        }

    @property
    def secure(self) -> bool:
        """Whether the endpoint is https."""
        return self.endpoint.startswith("https:")

    @property
    def loopback(self) -> bool:
        """Whether the server runs on this machine."""
        return urlsplit(self.endpoint).hostname in ("127.0.0.1", "localhost", "::1")

    @property
    def host(self) -> str:
        """Host and port."""
        return urlsplit(self.endpoint).netloc

    def client(self, *, read_seconds: float = _READ_SECONDS, retries: int = 3) -> Minio:
        """A client that may be used from several threads."""
        # The last answer is wanted even when every try got a 5xx: it says why.
        policy = urllib3.Retry(
            total=retries, backoff_factor=0.3, status_forcelist=[500, 502, 503, 504], raise_on_status=False
        )
        pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=read_seconds),
            maxsize=_POOL,
            cert_reqs="CERT_REQUIRED",
            ca_certs=os.environ.get("SSL_CERT_FILE") or certifi.where(),
            retries=policy,
        )
        return Minio(
            self.host,
            access_key=self.access_key,
            secret_key=self.secret_key,
            session_token=self.session_token,
            secure=self.secure,
            region=self.region,
            http_client=pool,
        )


def check_bucket(settings: S3Settings, bucket: str, prefix: str = "", *, create: bool = False) -> None:
    """See that the bucket's folder ``prefix`` can be listed with these credentials; make the bucket if asked to.

    Listing is asked for, and not HEAD, because only an answer with a body tells a wrong key from a wrong secret.

    Raises:
        StorageError: within about 15 seconds, whatever is wrong.
    """
    place = Place(settings.endpoint, f"s3://{bucket}")

    def check() -> None:
        client = settings.client(read_seconds=_CHECK_READ_SECONDS, retries=1)
        with s3_errors(place):
            try:
                next(iter(client.list_objects(bucket, prefix=f"{prefix}/" if prefix else "", recursive=False)), None)
            except S3Error as error:
                if error.code != "NoSuchBucket" or not create:
                    raise
                client.make_bucket(bucket, location=settings.region)

    try:
        within(_CHECK_SECONDS, check)
    except TimeoutError as error:
        # The client limits each read alone, and a server that sends a byte now and then keeps below that.
        raise StorageError(
            f"the server answers too slowly: to list the bucket takes it more than {_CHECK_SECONDS:g} s",
            where=place.where,
            remedy=f"see whether the server and the network to it are well, or correct {ENDPOINT_VARIABLE}",
        ) from error
