"""A table as data, before it is text in some format."""

import math
from dataclasses import dataclass, field, replace

from morl_blocks.metrics import Interval

GAP = "—"


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        text: The text; :data:`GAP` for a missing number.
        detail: A second line, such as a confidence interval.
        best: Whether it is the best of its column.
    """

    text: str
    detail: str = ""
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table of cells.

    Attributes:
        title: One line above it.
        columns: Heads of the columns.
        rows: Cells, one tuple per row.
        notes: Sentences below it: what is missing, and how to read it.
        numbers: The same rows as plain numbers and text by name, for CSV.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    numbers: tuple[dict[str, object], ...] = field(default=(), repr=False)


def without_empty(table: Table) -> Table:
    """Leave out the optional columns that hold nothing, in the text and in the numbers.

    Optional are the paper's columns and those of the second score.
    """
    empty = [
        name.endswith(("paper", "peak", "test")) and all(row[i].text == GAP for row in table.rows)
        for i, name in enumerate(table.columns)
    ]
    unknown = {
        name
        for name in (table.numbers[0] if table.numbers else ())
        if name.startswith(("paper_", "peak_", "test_")) and all(row[name] != row[name] for row in table.numbers)
    }
    return replace(
        table,
        columns=tuple(name for name, gone in zip(table.columns, empty, strict=True) if not gone),
        rows=tuple(tuple(c for c, gone in zip(row, empty, strict=True) if not gone) for row in table.rows),
        numbers=tuple({name: value for name, value in row.items() if name not in unknown} for row in table.numbers),
    )


def number(value: float, digits: int = 3) -> str:
    """Print a number, or the gap for NaN.

    Example:
        >>> number(0.29149), number(float("nan"))
        ('0.291', '—')
    """
    return GAP if math.isnan(value) else f"{value:.{digits}f}"


def with_spread(value: float, spread: float, digits: int = 3) -> str:
    """Print ``value ± spread``, without the spread where there is none.

    Example:
        >>> with_spread(0.2914, 0.0241), with_spread(0.2914, float("nan"))
        ('0.291 ± 0.024', '0.291')
    """
    return number(value, digits) if math.isnan(spread) else f"{number(value, digits)} ± {number(spread, digits)}"


def interval_text(interval: Interval, digits: int = 3, scale: float = 1.0) -> str:
    """Print the two ends of an interval, nothing where there is none.

    Example:
        >>> interval_text(Interval(0.5, 0.25, 0.75), digits=1, scale=100)
        '[25.0, 75.0]'
    """
    if math.isnan(interval.low):
        return ""
    return f"[{interval.low * scale:.{digits}f}, {interval.high * scale:.{digits}f}]"


def best_of(values: list[float]) -> list[bool]:
    """Mark the largest number and its equals; where all are equal, mark none.

    Example:
        >>> best_of([0.1, float("nan"), 0.3]), best_of([0.0, 0.0])
        ([False, False, True], [False, False])
    """
    known = [value for value in values if not math.isnan(value)]
    if len(set(known)) < 2:
        return [False] * len(values)
    return [value == max(known) for value in values]
