"""Read the histories of runs: thousands of small CSV files of numbers."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from morl_recipes.common.errors import StoreError
from morl_recipes.store.run_folder import again, read_content
from morl_recipes.store.shapes import HISTORY
from morl_recipes.store.store import RUNS, Store


class History(NamedTuple):
    """Names of the columns, and numbers ``[rows, columns]``."""

    columns: tuple[str, ...]
    numbers: NDArray[np.float64]


def parse(content: bytes, names: Collection[str] | None = None) -> History:
    r"""Read a history exactly; anything but numbers below one line of names raises ``ValueError``.

    ``names`` are the columns to read in addition to iteration and steps; others are not parsed. ``None`` for all.

    Example:
        >>> parse(b"iteration,steps\n1,2048\n").numbers.tolist()
        [[1.0, 2048.0]]
    """
    head, _, body = content.decode("ascii").partition("\n")
    columns = tuple(head.rstrip("\r").split(","))
    if len(set(columns)) < len(columns) or not {"iteration", "steps"} <= set(columns):
        raise ValueError("its columns must be distinct, with iteration and steps among them")
    lines = body.split("\n")[: -1 if body.endswith("\n") else None] if body else []
    if any(line.count(",") != len(columns) - 1 for line in lines):
        raise ValueError(f"every line must hold {len(columns)} numbers")
    if names is not None:
        kept = [i for i, name in enumerate(columns) if name in {"iteration", "steps", *names}]
        columns, choose = tuple(columns[i] for i in kept), itemgetter(*kept)
        lines = [",".join(choose(line.split(","))) for line in lines]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns about text
        try:
            numbers = np.fromstring(",".join(lines), sep=",").reshape(len(lines), len(columns))
        except DeprecationWarning as warning:
            raise ValueError("it must hold numbers alone") from warning
    counts = numbers[:, [columns.index("iteration"), columns.index("steps")]]
    if not (np.isfinite(counts).all() and (np.abs(counts) < 2**53).all()):
        raise ValueError("iteration and steps must be whole numbers")
    return History(columns, numbers)


def read_history(store: Store, fields: Mapping[str, Any], names: Collection[str] | None = None) -> History:
    """Return the history of a run, or some columns of it, given the fields of its ``run.json``."""
    run_id = fields["run_id"]
    folder = store.path / RUNS / run_id
    content = read_content(folder, fields, HISTORY)
    try:
        return parse(content, names)
    except ValueError as error:
        raise StoreError(f"{folder / HISTORY}: damaged ({str(error)[:200]}). {again(folder)}") from error


def stacked(histories: Sequence[History]) -> dict[str, NDArray[Any]]:
    """Concatenate histories column by column; a missing column is NaN."""
    names = dict.fromkeys(name for one in histories for name in one.columns)
    places = {columns: {name: i for i, name in enumerate(columns)} for columns in {one.columns for one in histories}}
    table: dict[str, NDArray[Any]] = {}
    for name in names:
        found = [(one.numbers, places[one.columns].get(name)) for one in histories]
        column = [np.full(len(rows), np.nan) if i is None else rows[:, i] for rows, i in found]
        whole = name in ("iteration", "steps")
        table[name] = np.concatenate(column).astype(np.int64 if whole else np.float64, copy=False)
    return table
