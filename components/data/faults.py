"""Rows that cannot be used: collected over a whole file, then told together."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from components.core.errors import ContractError

if TYPE_CHECKING:
    from components.data.rowfile import Row

SHOWN: Final = 10
"""Faults told in full; of the others only the number."""

Made = TypeVar("Made")


def read_each(rows: Sequence["Row"], parse: Callable[["Row"], Made], *, source: str) -> list[Made]:
    """What ``parse`` makes of each row.

    Args:
        rows: of one file.
        parse: raises :class:`ContractError` for a row that cannot be used.
        source: path or URL of the file.

    Raises:
        ContractError: the fault of the one bad row, or the first :data:`SHOWN` faults and how many rows have one.
    """
    made: list[Made] = []
    faults: list[ContractError] = []
    for row in rows:
        try:
            made.append(parse(row))
        except ContractError as error:
            faults.append(error)
    tell(faults, of=len(rows), source=source)
    return made


def tell(faults: Sequence[ContractError], *, of: int, source: str) -> None:
    """Raise what is to be said about ``faults``, at most one a row; nothing where there are none."""
    if not faults:
        return
    if len(faults) == 1:
        raise faults[0]
    listed = [f"{error.where.removeprefix(f'{source}, ')}: {error.what}" for error in faults[:SHOWN]]
    remedies = list(dict.fromkeys(error.remedy for error in faults[:SHOWN] if error.remedy))
    more = f"\n  and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    raise ContractError(
        f"{len(faults)} of {of} rows cannot be used:\n" + _lines(listed) + more,
        where=source,
        remedy="; ".join(remedies) or "correct these rows, or leave them out of the file",
    )


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(f"  {text}" for text in texts)
