"""Faults of single rows: collected over a whole file, then told together."""

from collections.abc import Iterable, Sequence
from typing import Final

from components.core.errors import ContractError

SHOWN: Final = 10
"""Faults told in full; of the others only the number."""


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
