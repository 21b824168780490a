"""What can go wrong between us and the API server."""

from collections.abc import Mapping
from typing import Any

from components.core.errors import GavelError


class KubeError(GavelError):
    """The API server refused a request, or did not answer.

    ``status`` is the HTTP status; 0 where no answer came. ``body`` is the server's Status object, {} where none came.
    """

    def __init__(
        self, what: str, *, where: str = "", remedy: str = "", status: int = 0, body: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.status = status
        self.body: Mapping[str, Any] = body or {}


class AlreadyExistsError(KubeError):
    """An object of this kind and name is there already (409)."""


class ConflictError(KubeError):
    """The object changed, or is another one, since we read it (409)."""


class ForbiddenError(KubeError):
    """Our account may not do this, or a quota or admission rule refuses it (403)."""


class UnauthorisedError(KubeError):
    """The server does not accept our credentials (401)."""


class GoneError(KubeError):
    """The server no longer has the history that a watch asked for (410)."""


class UnreachableError(KubeError):
    """No answer, or only overload and failures, for as long as we were willing to wait."""
