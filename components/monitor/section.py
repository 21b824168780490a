"""A table of the analysis, as text and as CSV."""

import csv
import dataclasses
import io
from collections.abc import Sequence

from components.monitor.estimate import Estimate
from components.monitor.text import UNKNOWN, between, columns, number, percent

Cell = str | int | float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Measure:
    """An estimate as a cell of text, and as columns of the CSV.

    Attributes:
        estimate: the mean with its interval.
        is_share: whether it is told in percent.
    """

    estimate: Estimate
    is_share: bool = True

    @property
    def text(self) -> str:
        """The mean and its interval."""
        found = self.estimate
        if found.value is None:
            return UNKNOWN
        if self.is_share:
            return f"{percent(found.value)} [{between(found.low, found.high)}]"
        return f"{number(found.value, 3)} [{between(found.low, found.high, scale=1.0, digits=3)}]"


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """One table.

    Attributes:
        key: its name, also of its CSV file.
        title: heading.
        header: of the columns.
        rows: cells; a number is shown with as many digits as it is given, None is unknown.
        note: how to read it; "" where there is nothing to say.
    """

    key: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[Cell | Measure, ...]]
    note: str = ""

    def text(self) -> str:
        """With its title."""
        if not self.rows:
            return f"{self.title}\nnone"
        lines = columns(self.header, [[_text(cell) for cell in row] for row in self.rows])
        return "\n".join([self.title, *lines, *([self.note] if self.note else [])])

    def csv(self) -> str:
        """Numbers in full; of a measure its mean, ends, responses and prompts; an unknown value is an empty cell."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        measured = {place for row in self.rows for place, cell in enumerate(row) if isinstance(cell, Measure)}
        names: list[str] = []
        for place, name in enumerate(self.header):
            more = ("low", "high", "responses", "prompts") if place in measured else ()
            names += [name, *(f"{name} {end}" for end in more)]
        writer.writerow([name.replace(" ", "_") for name in names])
        for row in self.rows:
            cells: list[Cell] = []
            for cell in row:
                if isinstance(cell, Measure):
                    found = cell.estimate
                    cells += [found.value, found.low, found.high, found.n, found.prompts]
                else:
                    cells.append(cell)
            writer.writerow(cells)
        return out.getvalue()


def _text(cell: Cell | Measure) -> str:
    if isinstance(cell, Measure):
        return cell.text
    if cell is None:
        return UNKNOWN
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
