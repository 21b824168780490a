"""What the failures of an S3 client mean to the user."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import ParseError

import urllib3.exceptions as http
from minio.error import InvalidResponseError, MinioException, S3Error, ServerError

from components.core.errors import StorageError
from components.core.progress import size_text
from components.core.store.disk import free_bytes, full_disk

_ENDPOINT = "GAVEL_S3_ENDPOINT"
_KEYS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
_FULL_CODES = {"XMinioStorageFull", "QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "InsufficientStorage"}
_SPARE = 1 << 30
"""Bytes that SeaweedFS wants free for the next volume."""
_REGION_CODES = {"AuthorizationHeaderMalformed", "PermanentRedirect", "Redirect", "IllegalLocationConstraintException"}
_REMEDY_BY_CODE = {
    "NoSuchBucket": "create the bucket, or correct the store's URL; only the embedded store makes its own",
    "InvalidAccessKeyId": f"the access key is unknown to the server: correct {_KEYS}",
    "SignatureDoesNotMatch": f"the secret does not belong to the access key: correct {_KEYS}",
    "AccessDenied": f"let the key list, read, write and delete in this bucket, or correct {_KEYS}",
    "ExpiredToken": f"the credentials have expired: renew {_KEYS}",
    "RequestTimeTooSkewed": "set this machine's clock",
    "InternalError": "see the server's log and its free disk: of a full one some servers say no more than this",
    "EntityTooLarge": "the server limits the size of an object: raise its limit",
}
_WHAT_BY_CODE = {
    "NoSuchBucket": "no such bucket",
    "NoSuchKey": "not there",
    "InvalidAccessKeyId": "wrong access key",
    "SignatureDoesNotMatch": "wrong secret key",
    "AccessDenied": "access denied",
}


@dataclass(frozen=True)
class Place:
    """What an operation was about, for its error."""

    endpoint: str
    uri: str
    size: int = 0
    """Bytes being written."""
    disk: Path | None = None
    """Where the server keeps its data, if that is this machine's own embedded server."""

    @property
    def where(self) -> str:
        """As the user reads it."""
        return f"{self.uri} at {self.endpoint}"


@contextmanager
def s3_errors(place: Place) -> Iterator[None]:
    """Turn whatever the S3 client raises into StorageError."""
    try:
        yield
    except S3Error as error:
        raise _from_code(error, place) from error
    except InvalidResponseError as error:
        raise _not_s3(str(error), place) from error
    except ServerError as error:
        raise _failed(f"the server failed with HTTP status {error.status_code}", place) from error
    except ParseError as error:
        raise _not_s3("it answered with something that is not XML", place) from error
    except http.HTTPError as error:
        raise _unreachable(error, place) from error
    except MinioException as error:
        raise _failed(f"{type(error).__name__}: {error}", place) from error
    except ValueError as error:
        # The client's own, for XML, dates and numbers that are not as S3 writes them.
        raise _not_s3(f"its answer cannot be read: {error}", place) from error


def tagged(etag: str | None, place: Place) -> str:
    """The ETag of an answer, which every S3 server gives for an object that it has or has taken.

    A gateway's page to sign in comes with status 200 and would otherwise pass for the object, or for its being stored.

    Raises:
        StorageError: there is none.
    """
    if not (etag or "").strip('"'):
        raise _not_s3("it says that all is well, without the object's ETag", place)
    return str(etag)


def _from_code(error: S3Error, place: Place) -> StorageError:
    code = error.code or "unknown"
    if code == "InternalError" and place.disk and free_bytes(place.disk) < place.size + _SPARE:
        # SeaweedFS says no more than that when it finds no room for another volume.
        return full_disk(place.disk, place.size + _SPARE)
    full = code in _FULL_CODES or getattr(error.response, "status", 0) == 507 or _says_full(error.message or "")
    if full:
        needed = f" ({size_text(place.size)} were to be written)" if place.size else ""
        return StorageError(
            f"the store is full or its quota used up{needed}: {error.message or code}",
            where=place.where,
            remedy="free space in the store or raise the quota",
        )
    if code in _REGION_CODES:
        return StorageError(f"wrong region: {error.message or code}", where=place.where, remedy="correct AWS_REGION")
    what = _WHAT_BY_CODE.get(code, f"the store refused: {code}: {error.message}")
    return StorageError(what, where=place.where, remedy=_REMEDY_BY_CODE.get(code, ""))


def _says_full(message: str) -> bool:
    text = message.lower()
    return any(sign in text for sign in ("no space left", "storage full", "no writable volumes", "not enough space"))


def _unreachable(error: http.HTTPError, place: Place) -> StorageError:
    reason = error.reason if isinstance(error, http.MaxRetryError) and error.reason else error
    text = str(reason).lower()
    if isinstance(reason, http.SSLError):
        return _tls(text, place)
    if isinstance(reason, http.NameResolutionError):
        return StorageError("no such host", where=place.where, remedy=f"correct {_ENDPOINT}")
    if isinstance(reason, http.ConnectTimeoutError) and not isinstance(reason, http.NewConnectionError):
        return _silent("no answer to the attempt to connect", place)
    if isinstance(reason, http.ReadTimeoutError | http.ConnectTimeoutError) and "timed out" in text:
        return _silent("connected, but no answer came in time", place)
    if isinstance(reason, http.NewConnectionError):
        return StorageError(
            "nothing listens at the S3 endpoint", where=place.where, remedy=f"start the server or correct {_ENDPOINT}"
        )
    if isinstance(reason, http.ProtocolError):
        return StorageError(
            f"the endpoint broke off the connection: {reason}",
            where=place.where,
            remedy=f"see whether the server is well; if it wants https, say so in {_ENDPOINT}",
        )
    return _failed(f"{type(reason).__name__}: {reason}", place)


def _tls(text: str, place: Place) -> StorageError:
    if "certificate" in text:
        return StorageError(
            "the endpoint's certificate is not trusted",
            where=place.where,
            remedy="name the file of its authority in SSL_CERT_FILE",
        )
    return StorageError(
        "the endpoint does not speak https",
        where=place.where,
        remedy=f"write http:// instead of https:// in {_ENDPOINT}",
    )


def _silent(what: str, place: Place) -> StorageError:
    return StorageError(what, where=place.where, remedy=f"see whether the server is well, or correct {_ENDPOINT}")


def _not_s3(detail: str, place: Place) -> StorageError:
    if "https" in detail.lower():
        return StorageError(
            "the endpoint speaks https only",
            where=place.where,
            remedy=f"write https:// instead of http:// in {_ENDPOINT}",
        )
    return StorageError(
        f"what answers is no S3 server: {detail[:200]}", where=place.where, remedy=f"correct {_ENDPOINT}"
    )


def _failed(what: str, place: Place) -> StorageError:
    return StorageError(f"the store failed: {what}", where=place.where, remedy="see the server's log, then try again")
