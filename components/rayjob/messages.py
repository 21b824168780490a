"""What the step outside and the driver inside a job tell each other, as small objects in the store.

The pods of a job may not speak to the API server, and the step not to the pods; both reach the store.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from components.core import errors
from components.core.errors import ContractError, GavelError, StepError
from components.core.store import Store
from components.core.store.keys import join

REQUEST = "request.json"
HEARTBEAT = "heartbeat.json"
FAILURE = "failure.json"
ATTEMPTS = "attempts.json"

ATTEMPT_VARIABLE = "GAVEL_ATTEMPT"
"""In the driver's environment: the name of its RayJob."""

T = TypeVar("T")
State = Literal["starting", "training", "waiting-for-judge", "saving", "publishing"]


@dataclasses.dataclass(frozen=True)
class Request:
    """What the driver is asked to do."""

    experiment: str
    """The experiment as JSON."""
    inputs: Mapping[str, str]
    """URIs of the published folders that the step reads, by name."""
    endpoints: Mapping[str, str]
    """Base URLs of the judges, by name, as the step found them; for people, since the pods get them by environment."""


@dataclasses.dataclass(frozen=True)
class Heartbeat:
    """The driver's sign of life."""

    attempt: str
    """Name of the RayJob."""
    start: str
    """Tells one start of the driver from another within an attempt."""
    sequence: int
    """Grows while there is progress, and stands still in a trainer that hangs."""
    state: State
    step: int
    """The training step that is under way, from 1; 0 while there is none."""
    note: str
    time: float
    """Unix time, by the driver's clock."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why the driver ended, so that the step can raise the same error."""

    attempt: str
    kind: str
    """Class of the error."""
    what: str
    where: str = ""
    remedy: str = ""
    hung: bool = False
    """Whether the trainer showed no sign of life: a further attempt may well go on."""

    @classmethod
    def of(cls, attempt: str, error: GavelError, *, hung: bool = False) -> "Failure":
        """The failure that an error is."""
        return cls(attempt, type(error).__name__, error.what, error.where, error.remedy, hung)

    def error(self) -> GavelError:
        """The error again; a StepError where the class is not one of ours."""
        kind = getattr(errors, self.kind, None)
        known = isinstance(kind, type) and issubclass(kind, GavelError)
        made = kind if known and kind is not None else StepError
        found = made(self.what, where=self.where, remedy=self.remedy)
        assert isinstance(found, GavelError)
        return found


@dataclasses.dataclass(frozen=True)
class Attempts:
    """What is known of the attempts whose RayJob is gone."""

    newest: int = -1
    """Number of the newest attempt; -1 before the first."""
    hangs: int = 0
    """How many attempts in a row were ended because they hung."""


def write(store: Store, place: str, name: str, message: Any) -> None:
    """Put a message below ``place``."""
    data = json.dumps(dataclasses.asdict(message), indent=1, sort_keys=True) + "\n"
    store.write_bytes(join(place, name), data.encode())


def read_request(store: Store, key: str) -> Request:
    """The request under ``key``.

    Raises:
        StorageError: it is not there.
        ContractError: it is no request.
    """
    return _made(Request, _parsed(store, key), store.uri(key))


def read_heartbeat(store: Store, place: str) -> Heartbeat | None:
    """The newest heartbeat, None where there is none."""
    found = _read(store, join(place, HEARTBEAT))
    return None if found is None else _made(Heartbeat, found, store.uri(join(place, HEARTBEAT)))


def read_failure(store: Store, place: str) -> Failure | None:
    """The newest failure, None where there is none."""
    found = _read(store, join(place, FAILURE))
    return None if found is None else _made(Failure, found, store.uri(join(place, FAILURE)))


def read_attempts(store: Store, place: str) -> Attempts:
    """What is noted on attempts."""
    found = _read(store, join(place, ATTEMPTS))
    return Attempts() if found is None else _made(Attempts, found, store.uri(join(place, ATTEMPTS)))


def _read(store: Store, key: str) -> Any:
    return _parsed(store, key) if store.exists(key) else None


def _parsed(store: Store, key: str) -> Any:
    try:
        # Of "null" there is an object that is none of ours, and not nothing.
        return json.loads(store.read_bytes(key)) or {}
    except (ValueError, RecursionError) as error:
        text = str(error) or type(error).__name__
        raise ContractError(f"not JSON: {text}", where=store.uri(key), remedy="delete it") from error


def _made(kind: type[T], found: Any, where: str) -> T:
    """The message, each field of the type that it is declared with.

    Raises:
        ContractError: a field is missing, is not one of the message's, or is of another type.
    """
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    strange = sorted(str(key)[:40] for key in set(found) - names) if isinstance(found, dict) else []
    try:
        if strange:
            raise ValueError(f"{strange[0]!r} is no field of it")
        # By way of JSON, for there alone is strict reading one of an object into a dataclass.
        return TypeAdapter(kind).validate_json(json.dumps(found), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        said = ".".join(map(str, first["loc"])) + ": " + first["msg"] if first["loc"] else first["msg"]
        raise ContractError(f"not a {kind.__name__}: {said}", where=where, remedy="delete it") from error
    except ValueError as error:
        raise ContractError(f"not a {kind.__name__}: {error}", where=where, remedy="delete it") from error
