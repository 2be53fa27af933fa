"""A table as data, before it is printed in some format."""

import math
from dataclasses import dataclass, field, replace
from itertools import compress

from morl_blocks.metrics import Interval

GAP = "—"


@dataclass(frozen=True)
class Cell:
    """One cell: its text, a second line such as a confidence interval, and whether it is the best of its column."""

    text: str
    detail: str = ""
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table of cells.

    Attributes:
        title: One line above it.
        columns: Headings of the columns.
        rows: Cells, one tuple per row.
        notes: Sentences below the table: missing runs, and how to read it.
        numbers: The same rows as numbers and text by name, for CSV.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    numbers: tuple[dict[str, object], ...] = field(default=(), repr=False)


def without_empty(table: Table) -> Table:
    """Leave out the paper's columns and those of the second score if they are empty."""
    there = [
        not name.endswith(("paper", "peak", "test")) or any(row[i].text != GAP for row in table.rows)
        for i, name in enumerate(table.columns)
    ]
    empty = {
        name
        for name in table.numbers[0]
        if name.startswith(("paper_", "peak_", "test_")) and all(row[name] != row[name] for row in table.numbers)  # NaN
    }
    columns, rows = tuple(compress(table.columns, there)), tuple(tuple(compress(row, there)) for row in table.rows)
    numbers = tuple({name: row[name] for name in row if name not in empty} for row in table.numbers)
    return replace(table, columns=columns, rows=rows, numbers=numbers)


def number(value: float, digits: int = 3, spread: float = math.nan) -> str:
    """Print a number with ``± spread`` if there is one; a dash for NaN."""
    if not math.isnan(spread):
        return f"{number(value, digits)} ± {number(spread, digits)}"
    return GAP if math.isnan(value) else f"{value:.{digits}f}"


def interval_text(interval: Interval, digits: int = 3, scale: float = 1.0) -> str:
    """Print the two ends of an interval, or nothing if there is none."""
    if math.isnan(interval.low):
        return ""
    return f"[{interval.low * scale:.{digits}f}, {interval.high * scale:.{digits}f}]"


def interval_cell(interval: Interval, digits: int = 3, scale: float = 1.0, *, best: bool = False) -> Cell:
    """Return the cell of an estimate with its interval."""
    return Cell(number(interval.estimate * scale, digits), interval_text(interval, digits, scale), best)


def interval_numbers(intervals: dict[str, Interval]) -> dict[str, object]:
    """Return each estimate under its name, and its two ends as ``<name>_low`` and ``<name>_high``."""
    names = [f"{name}{end}" for name in intervals for end in ("", "_low", "_high")]
    return dict(zip(names, (value for interval in intervals.values() for value in interval), strict=True))


def best_of(values: list[float]) -> list[bool]:
    """Mark the largest number and all that equal it; mark none if all are equal.

    Example:
        >>> best_of([0.0, 0.0])
        [False, False]
        >>> best_of([0.1, float("nan"), 0.3])
        [False, False, True]
    """
    known = [value for value in values if not math.isnan(value)]
    if len(set(known)) < 2:
        return [False] * len(values)
    return [value == max(known) for value in values]
