"""What an exception of the HTTP client says about the call, the server and its address."""

import ssl
from collections.abc import Callable

import aiohttp

from components.judge.transport.reply import Signal, Trouble
from components.judge.verdict import UnknownReason

_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
"""What OpenSSL calls an answer that is not TLS."""


def what_broke(
    error: Exception,
    url: str,
    limit: float,
    *,
    began: bool,
    streaming: bool,
    alone: bool,
    clean: Callable[[str], str],
) -> Trouble:
    """The trouble of a call that raised ``error``.

    Args:
        error: of aiohttp, the system, or whoever read the reply.
        url: for people.
        limit: seconds that the call had.
        began: whether a reply had begun.
        streaming: whether it was read as a stream.
        alone: whether there is no other endpoint that the call could go to.
        clean: leaves the keys out of what the exception says, which may repeat what the server sent.
    """
    name = type(error).__name__
    said = clean(str(error))
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return _unreached(f"{url}: nobody takes the connection")
    if isinstance(error, TimeoutError):
        return Trouble(UnknownReason.TIMEOUT, f"{url}: no reply in {limit:.1f} s", Signal.SLOW, again=True)
    if isinstance(error, aiohttp.ClientConnectorError):
        hint = _address_hint(error)
        if hint is None:
            return _unreached(f"{url}: {said}")
        # No repetition mends an address, but another endpoint may have a right one.
        signal = Signal.ALIVE if alone else Signal.UNREACHED
        return Trouble(UnknownReason.REJECTED, f"{url}: {said} ({hint})", signal, again=not alone, counts=False)
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return Trouble(UnknownReason.REJECTED, f"{url}: not a URL: {said}", Signal.ALIVE, again=False)
    if isinstance(error, aiohttp.ClientError | OSError):
        reason = UnknownReason.STREAM_CUT if streaming else UnknownReason.JUDGE_DOWN
        return Trouble(reason, f"{url}: the reply broke off: {name} {said}", Signal.BROKEN, again=True)
    if began:
        reason = UnknownReason.STREAM_ERROR if streaming else UnknownReason.UNPARSEABLE
        return Trouble(reason, f"{url}: the reply cannot be read: {name} {said}", Signal.ALIVE, again=True)
    return Trouble(UnknownReason.REJECTED, f"{url}: the call cannot be sent: {said}", Signal.ALIVE, again=False)


def _unreached(detail: str) -> Trouble:
    return Trouble(UnknownReason.JUDGE_DOWN, detail, Signal.UNREACHED, again=True, counts=False)


def _address_hint(error: aiohttp.ClientConnectorError) -> str | None:
    """What to do about a server that speaks no TLS, or another's certificate; None if it may pass by itself."""
    inner = error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else error.os_error
    if isinstance(inner, ssl.SSLCertVerificationError):
        return "its certificate is not trusted here: is the host in the endpoint right?"
    if isinstance(inner, ssl.SSLError) and any(name in str(inner).upper().replace(" ", "_") for name in _NO_TLS):
        return "it speaks no TLS: write http:// in the endpoint"
    return None
