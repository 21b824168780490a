"""Rows that cannot be used: collected over a whole file, then told together."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from components.core.errors import ContractError
from components.core.faults import tell
from components.core.unique_json import RepeatedKeyError

if TYPE_CHECKING:
    from components.data.rowfile import Row

Made = TypeVar("Made")


def read_each(rows: Sequence["Row"], parse: Callable[["Row"], Made], *, source: str) -> list[Made]:
    """What ``parse`` makes of each row.

    Args:
        rows: of one file.
        parse: raises :class:`ContractError` for a row that cannot be used.
        source: path or URL of the file.

    Raises:
        ContractError: the fault of the one bad row, or the first faults and how many rows have one, as
            :func:`components.core.faults.tell` tells them.
    """
    made: list[Made] = []
    faults: list[ContractError] = []
    for row in rows:
        try:
            made.append(parse(row))
        except RepeatedKeyError as error:
            faults.append(error if error.where else error.located(row.where))
        except ContractError as error:
            faults.append(error)
    tell(faults, of=len(rows), source=source)
    return made
