"""A study: one page of the report made from measurements or from the theory alone, as data.

Every number in its text and tables is computed by the study's module when the report is built; none is typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from giantsteps.reports.figures.canvas import Figure


def command(slug: str) -> str:
    """What measures the samples of a study that are missing, and prints its page."""
    return f"python -m benchmarks.studies {slug} simulate"


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.split("|"))


@dataclass(frozen=True)
class Table:
    """A table of the page: its caption, the heads of its columns, its rows; cells are prose."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, caption: str, heads: str, rows: Iterable[str]) -> Table:
        """From lines of text, the cells of each parted by bars: "model | alpha"."""
        return cls(caption, _cells(heads), tuple(map(_cells, rows)))

    def __post_init__(self) -> None:
        """Raises ValueError for a row of another length than the heads."""
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong:
            raise ValueError(f"{self.caption}: a row of {len(wrong[0])} cells under {len(self.columns)} heads")


@dataclass(frozen=True)
class Statement:
    """A sentence on what is studied, who says it, whether the numbers show it, and the numbers."""

    says: str
    source: str
    seen: bool
    found: str


# Who says what no source does.
OURS = "this suite"


def stated(statements: Sequence[Statement]) -> Table:
    """What is said, and whether it is seen."""
    rows = tuple((one.says, one.source, "seen" if one.seen else "not seen", one.found) for one in statements)
    caption = "What is said, and whether it is seen; bars in brackets are this suite's, set with the numbers in view"
    return Table(caption, ("statement", "where", "seen", "what is found"), rows)


@dataclass(frozen=True)
class Study:
    """A page: what was asked, what was found; `command` measures it again (empty where nothing was measured)."""

    slug: str
    title: str
    text: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    command: str = ""
