"""A figure's data: what is drawn, and what the reader downloads, from one and the same rows."""

import base64
import csv
import dataclasses
import io
from collections.abc import Mapping
from typing import Final

Cell = str | int | float | None
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that spreadsheets compute (OWASP, CSV injection)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """One figure without its drawing.

    Attributes:
        key: its name, also of its CSV file.
        title: heading.
        caption: what it shows and how to read it.
        alt: what it shows in words, for those who cannot see it.
        columns: of its data.
        rows: its data; None where a value is unknown.
        names: column -> what its line is called, where that is not always the same.
    """

    key: str
    title: str
    caption: str
    alt: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def csv(self) -> str:
        """The data as CSV, numbers in full precision, an unknown value as an empty cell.

        A text that a spreadsheet would take for a formula gets an apostrophe in front.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_inert(cell) for cell in row] for row in self.rows)
        return out.getvalue()

    def data_uri(self) -> str:
        """The CSV as a link that needs no server."""
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(self.csv().encode()).decode()


def _inert(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
