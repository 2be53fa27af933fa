"""A run as a line of text: the frame of a store as CSV, and back."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

DIGITS = 9
"""Digits of a number: all that a 32-bit return has, and more than any table shows."""
ALWAYS = ("status", "reason")
"""Columns of a store's frame that the lines leave out: every line is of a run that is done."""
ORIGIN = ("seconds", "version", "torch", "commit")
"""What a line says beside the scores: wall time from the start of its sweep, and what trained it."""
TEXT = ("run_id", "group", "method", "env", "preference", "version", "torch", "commit")
WHOLE = ("seed", "steps")


def to_csv(frame: pd.DataFrame) -> str:
    """Write one line per run.

    Args:
        frame: The frame of :func:`morl_recipes.store.load_runs` with the columns :data:`ORIGIN`, of runs that are done.
    """
    text = io.StringIO()
    names = [name for name in frame.columns if name not in ALWAYS]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in frame[names].to_dict("records"):
        writer.writerow([cell(value) for value in row.values()])
    return text.getvalue()


def from_csv(text: str) -> pd.DataFrame:
    r"""Read what :func:`to_csv` wrote; columns of any other kind raise ``ValueError`` or ``KeyError``.

    Example:
        >>> frame = from_csv("run_id,preference,seed,steps,peak_hv,commit\na,0.1 0.9,3,4096,0.25,\n")
        >>> frame[["preference", "seed", "peak_hv", "status"]].to_dict("records")
        [{'preference': (0.1, 0.9), 'seed': 3, 'peak_hv': 0.25, 'status': 'done'}]
    """
    head, *rows = csv.reader(io.StringIO(text))
    if any(len(row) != len(head) for row in rows):
        raise ValueError("a line of another length")
    columns = dict(zip(head, map(list, zip(*rows, strict=True)) if rows else [[] for _ in head], strict=True))
    frame = pd.DataFrame({name: _read(name, cells) for name, cells in columns.items()})
    place = list(frame.columns).index("steps")
    frame.insert(place, "status", "done")
    frame.insert(place + 1, "reason", "")
    return frame


def cell(value: object) -> str:
    """Write one value: weights with all their digits, other numbers with :data:`DIGITS`, nothing for NaN.

    Example:
        >>> cell((0.1, 1 / 3)), cell(0.123456789012), cell(float("nan")), cell(7)
        ('0.1 0.3333333333333333', '0.123456789', '', '7')
    """
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return str(value)


def _read(name: str, cells: Sequence[str]) -> list[Any]:
    if name == "preference":
        return [tuple(float(weight) for weight in text.split()) for text in cells]
    if name in TEXT:
        return list(cells)
    if name in WHOLE:
        return [int(text) for text in cells]
    return [float(text) if text else math.nan for text in cells]


def origin(fields: Mapping[str, Any], created: str, written: float) -> dict[str, Any]:
    """Say of a stored run how long it took and what trained it; NaN or nothing where that is not known.

    Args:
        fields: The fields of its ``run.json``.
        created: When its sweep began, ISO 8601.
        written: When its file was written, in seconds since 1970.

    Example:
        >>> origin({"versions": {"torch": "2.13.0"}}, "1970-01-01T00:01:00+00:00", 100.0)
        {'seconds': 40.0, 'version': '', 'torch': '2.13.0', 'commit': ''}
    """
    versions = fields.get("versions", {})
    try:
        seconds = round(written - datetime.fromisoformat(created).timestamp(), 1)
    except ValueError:
        seconds = math.nan
    return {
        "seconds": seconds if seconds >= 0 else math.nan,
        "version": versions.get("morl-blocks", ""),
        "torch": versions.get("torch", ""),
        "commit": versions.get("commit", ""),
    }
